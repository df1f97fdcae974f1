/* Libraries that look like ONNX Runtime and misbehave: FAKE says how. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct ApiBase {
  const void* (*get_api)(uint32_t version);
  const char* (*version)(void);
};

static const void* get_api(uint32_t version) {
  (void)version;
  return NULL; /* as a library does that is too old */
}

static const char* version(void) { return "1.0"; }

enum { kCrash, kExit, kHang, kOld };

const struct ApiBase* OrtGetApiBase(void);
const struct ApiBase* OrtGetApiBase(void) {
  static const struct ApiBase base = {get_api, version};
  switch (FAKE) {
    case kCrash:
      fputs("fake runtime: the end is near\n", stderr);
      abort();
    case kExit:
      _exit(3);
    case kHang:
      for (;;) pause();
    default:
      return &base;
  }
}
