// The texts of torch_peer.py and embed_peer.py, which CMake puts into the program: the tool needs no files beside it.
#pragma once

namespace addnorm::bench {

const char* torch_peer_source();
const char* embed_peer_source();

}  // namespace addnorm::bench
