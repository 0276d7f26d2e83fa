// Stream: what residual units pass on to one another in one forward pass. A model drives it from the stack's input to its output:
//
//   auto stream = residual->open(x0, pass);
//   stream->enter(l);                                  before the units of layer l
//   stream->write(unit, F(stream->read(unit)));        each of them, in order
//   stream->leave(l);                                  after the last of them
//   Var y = stream->close();
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "addnorm/autograd/var.h"
#include "addnorm/residual/stack.h"

namespace addnorm {

struct AttentionScores;  // nn/attention.h
class Stream;

/// Observes a stream; not called while recompute runs a layer for the second time. Streams are Vars of the graph, and
/// retain_grad() on them gives the whole gradient, skip and branch: observing costs some fusion, and changes no bit.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  /// The branch as it is added: after the output norm, its coefficient and dropout. f = b * dropout(N_out(F)). Called before it
  /// is added: the skip's coefficient is read after this (Residual::calibrate). A value only: what it is computed from for you
  /// may stand beside the graph. Its gradient is that of the sum it goes into.
  virtual void on_branch(const Unit& unit, const Var& added) = 0;
  /// The stream after `unit` wrote, when it is settled; the input itself with no unit.
  virtual void on_stream(const Unit* unit, const Var& x) = 0;
  /// Where the skip and the branch of `unit` part: `whole` is the stream, or N_in(x) where the skip takes that, and `skip` and
  /// `branch` are the same value as the two go on with it. Their gradients are the parts that come back along the skip and
  /// through the branch; one float addition of them is the gradient of `whole`, bit for bit
  /// (the stack's input of resi-dual and denseformer has a third way, past all units). Not called where there is no skip.
  virtual void on_parting(const Unit& /*unit*/, const Var& /*whole*/, const Var& /*skip*/, const Var& /*branch*/) {}
  /// The stream before the units of `layer` run: its state() is where a pass can begin again (Stack::rest). Called by a Stack, as
  /// the next one and on_attention are.
  virtual void on_layer(std::size_t /*layer*/, const Stream& /*stream*/) {}
  /// What the sub-layer of `unit` reads: N_in(x) and the like.
  virtual void on_read(const Unit& /*unit*/, const Var& /*u*/) {}
  /// What comes out at the close: the stream after its exit norm, or what several streams make together.
  virtual void on_output(const Var& /*y*/) {}
  /// What the scores of the unit's attention are made of.
  virtual void on_attention(const Unit& /*unit*/, const AttentionScores& /*scores*/) {}
};

/// Holds only Vars, and lives for one pass. Where it stands it learns from the units that are handed to it, so that a model need
/// not run every layer once. One that is left out (no enter, no leave) is the identity. One that runs again goes on from where
/// the stream is; where outputs of layers are kept (denseformer, dlcl), the new one takes the place of the first, and a layer of
/// dlcl reads the same as before: it sees only those below.
class Stream {
 public:
  /// What recompute keeps of it: the stream, and a branch that is written but not added yet.
  struct State {
    std::vector<Var> vars;
    std::optional<Unit> pending;  ///< the unit whose branch waits
  };

  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void begin(const Var& x0) { do_begin(x0); }
  Var read(const Unit& unit) { return do_read(unit); }
  void write(const Unit& unit, const Var& f) { do_write(unit, f); }
  void enter(std::size_t layer) { do_enter(layer); }
  void leave(std::size_t layer) { do_leave(layer); }
  Var close();

  virtual State state() const = 0;
  virtual void restore(const State& state) = 0;

 protected:
  explicit Stream(StreamObserver* observer) : observer_(observer) {}
  /// There is an observer, in a replay too: what is computed must not depend on whether it is called.
  bool watched() const { return observer_ != nullptr; }
  void announce_branch(const Unit& unit, const Var& added) const;
  void announce_stream(const Unit* unit, const Var& x) const;
  /// x as the skip and as the branch go on with it: x itself twice, unless an observer watches their gradients.
  struct Parted {
    Var skip, branch;
  };
  Parted parted(const Unit& unit, const Var& x) const;

 private:
  virtual void do_begin(const Var& x0) = 0;
  virtual Var do_read(const Unit& unit) = 0;
  virtual void do_write(const Unit& unit, const Var& f) = 0;
  virtual void do_enter(std::size_t) {}
  virtual void do_leave(std::size_t) {}
  virtual Var do_close() = 0;

  StreamObserver* observer_;
};

}  // namespace addnorm
