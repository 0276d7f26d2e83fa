# cmake -D STYLE=page.css -D SCRIPT=page.js -D INTO=hashes.h -P policy_hashes.cmake: the names by which the page's policy knows its own
# style and script, "sha256-" and the digest in base64 (RFC 4648), as a header.
function(policy_hash file out)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  file(SHA256 ${file} hex)
  set(text sha256-)
  foreach(at RANGE 0 59 6)  # three bytes are four digits
    string(SUBSTRING ${hex} ${at} 6 three)
    foreach(shift 18 12 6 0)
      math(EXPR digit "0x${three} >> ${shift} & 63")
      string(SUBSTRING ${digits} ${digit} 1 digit)
      string(APPEND text ${digit})
    endforeach()
  endforeach()
  string(SUBSTRING ${hex} 60 4 two)  # the last two bytes of 32: three digits and a sign that one is missing
  foreach(shift 10 4)
    math(EXPR digit "0x${two} >> ${shift} & 63")
    string(SUBSTRING ${digits} ${digit} 1 digit)
    string(APPEND text ${digit})
  endforeach()
  math(EXPR digit "(0x${two} & 15) << 2")
  string(SUBSTRING ${digits} ${digit} 1 digit)
  set(${out} "${text}${digit}=" PARENT_SCOPE)
endfunction()

policy_hash(${STYLE} style)
policy_hash(${SCRIPT} script)
file(WRITE ${INTO} "constexpr char kStyleHash[] = \"${style}\";\nconstexpr char kScriptHash[] = \"${script}\";\n")
