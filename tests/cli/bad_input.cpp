// Wrong input of every kind: the right exit status, a message, nothing left behind, the input as it was.
#include <nlohmann/json.hpp>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/cli/cli.hpp"

namespace gantry::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

class BadInput : public Cli {
 protected:
  /// convert, check and inspect all refuse the file with exit status 3 and one of these codes.
  void refused(const std::string& in, const std::string& code) {
    const std::string before = std::filesystem::is_regular_file(in) ? read_file(in) : "";
    const std::vector<std::string> was = files();
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"convert", in, "-o", path("out.tflite")},
                                                      {"check", in},
                                                      {"inspect", in},
                                                      {"opt", in, "--passes=normalize"}}) {
      SCOPED_TRACE(arguments.front());
      const ProcessResult r = fails(arguments, 3, code);
      EXPECT_THAT(r.err, HasSubstr(std::filesystem::path(in).filename().string()));
    }
    EXPECT_EQ(files().size(), was.size());
    EXPECT_EQ(std::filesystem::is_regular_file(in) ? read_file(in) : "", before);
  }
};

TEST_F(BadInput, NoFile) {
  refused(path("none.onnx"), "E0301");
  refused(dir().string(), "E0301");
}

TEST_F(BadInput, EmptyFile) { refused(file("empty.onnx", ""), "E0303"); }

TEST_F(BadInput, TextFile) {
  refused(file("page.onnx", "<!DOCTYPE html><html><body>404 Not Found</body></html>\n"), "E0302");
  refused(file("lfs.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12345\n"), "E0302");
}

TEST_F(BadInput, TruncatedModel) {
  const std::string whole = onnx_bytes(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,4] x) => (float[1,4] y) <float[4] b = {1, 2, 3, 4}> { y = Add(x, b) })");
  const ProcessResult r = gantry({"check", file("cut.onnx", whole.substr(0, whole.size() - 7))});
  EXPECT_EQ(r.status, 3) << r.err;
  // Whatever byte it ends at: never a crash, never anything but "invalid".
  for (std::size_t n = 0; n < whole.size(); n += 5) {
    const ProcessResult cut = gantry({"check", file("cut.onnx", whole.substr(0, n))});
    EXPECT_EQ(cut.status, 3) << n << ": " << cut.err;
  }
}

TEST_F(BadInput, CycleAndMissingInitializer) {
  refused(onnx("cycle.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,4] x) => (float[1,4] y) { a = Add(x, b)  b = Relu(a)  y = Relu(b) })"),
          "E0304");
  refused(onnx("missing.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,4] x) => (float[1,4] y) { y = Add(x, weight) })"),
          "E0304");
}

TEST_F(BadInput, Opset) {
  refused(onnx("opset.onnx",
               R"(<ir_version: 8, opset_import: ["" : 999]> g (float[1,4] x) => (float[1,4] y) { y = Relu(x) })"),
          "E0306");
}

TEST_F(BadInput, ExternalData) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(onnx_bytes(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,4] x) => (float[1,4] y) <float[4] b = {1, 2, 3, 4}> { y = Add(x, b) })")));
  std::filesystem::create_directory(path("sub"));
  file("outside.bin", std::string(16, '\0'));
  file("sub/short.bin", std::string(15, '\0'));
  file("sub/good.bin", std::string(16, '\0'));
  std::filesystem::create_symlink(path("outside.bin"), path("sub/link.bin"));
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_float_data();
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& location = *tensor.add_external_data();
  location.set_key("location");
  const auto with = [&](const std::string& where) {
    location.set_value(where);
    return file("sub/m.onnx", model.SerializeAsString());
  };
  succeeds({"check", with("good.bin")});
  for (const std::string& where :
       {std::string("none.bin"), std::string("../outside.bin"), path("outside.bin"), std::string("short.bin"),
        std::string("link.bin"), std::string("/dev/zero"), std::string()}) {
    SCOPED_TRACE(where);
    refused(with(where), "E0305");
  }
}

TEST_F(BadInput, OutputFolder) {
  const std::string in = onnx("relu.onnx", kReluModel);
  EXPECT_THAT(fails({"convert", in, "-o", path("none/out.tflite")}, 7, "E0701").err, HasSubstr("none"));
  fails({"convert", in, "-o", "/dev/null/out.tflite"}, 7, "E0701");
  std::filesystem::create_directory(path("folder.tflite"));
  const ProcessResult r = gantry({"convert", in, "-o", path("folder.tflite")});
  EXPECT_EQ(r.status, 7) << r.err;
  EXPECT_EQ(files().size(), 2);
}

TEST_F(BadInput, OutputIsTheInput) {
  const std::string in = file("relu.tflite", onnx_bytes(kReluModel));
  const std::string before = read_file(in);
  fails({"convert", in, "-o", in}, 2, "E0201");
  std::filesystem::create_hard_link(in, path("other.tflite"));
  fails({"convert", in, "-o", path("other.tflite")}, 2, "E0201");
  fails({"convert", in, "-o", path("x.tflite"), "--report", in}, 2, "E0201");
  fails({"convert", in, "-o", path("x.tflite"), "--log-file", in}, 2, "E0201");
  fails({"opt", in, "-o", in}, 2, "E0201");
  EXPECT_EQ(read_file(in), before);
}

TEST_F(BadInput, OutputIsExternalData) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(onnx_bytes(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,4] x) => (float[1,4] y) <float[4] b = {1, 2, 3, 4}> { y = Add(x, b) })")));
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_float_data();
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& location = *tensor.add_external_data();
  location.set_key("location");
  location.set_value("w.tflite");
  const std::string weights(16, '\1'), at = file("w.tflite", weights);
  const std::string in = file("m.onnx", model.SerializeAsString());
  fails({"convert", in, "-o", at}, 2, "E0201");
  EXPECT_EQ(gantry({"convert", in, "-o", path("out.tflite"), "--report", at}).status, 2);
  EXPECT_EQ(read_file(at), weights);
}

TEST_F(BadInput, OneFileForTwoThings) {
  const std::string in = onnx("relu.onnx", kReluModel), out = path("out.tflite"), same = path("./out.tflite");
  fails({"convert", in, "-o", out, "--report", same}, 2, "E0201");
  fails({"convert", in, "-o", out, "--log-file", same}, 2, "E0201");
  fails({"convert", in, "-o", out, "--report", path("r"), "--log-file", path("./r")}, 2, "E0201");
  succeeds({"convert", in, "-o", out, "--report", "/dev/null", "--log-file", "/dev/null"});
}

TEST_F(BadInput, CheckRefusesWhatConvertRefuses) {
  for (const std::string& model :
       {std::string("g (float[1099511627776,4] x) => (float[1099511627776,4] y) { y = Relu(x) }"),
        std::string("g (float[1,1,1,1,1,1,1,1,4] x) => (float[1,1,1,1,1,1,1,1,4] y) { y = Relu(x) }"),
        std::string(
            "g (float[1,4,8,8] x) => (float[1,4,N,M] y) <float[4,4,1,1] w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
            "1, 1, 1, 1}> { y = Conv<strides = [1099511627776, 1]>(x, w) }")}) {
    SCOPED_TRACE(model);
    const std::string in = onnx("m.onnx", "<ir_version: 8, opset_import: [\"\" : 17]> " + model);
    EXPECT_EQ(gantry({"check", in}).status, 4);
    EXPECT_EQ(gantry({"convert", in, "--dry-run"}).status, 4);
    EXPECT_EQ(gantry({"convert", in, "-o", path("o.tflite")}).status, 4);
  }
}

TEST_F(BadInput, InputsOfUnknownRank) {
  const std::string in = onnx("m.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float x, float[1,2,3,4] z) => (float y, float[1,2,3,4] w) { y = Relu(x)  w = Relu(z) })");
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read_file(in)));
  for (onnx::ValueInfoProto* v : {model.mutable_graph()->mutable_input(0), model.mutable_graph()->mutable_output(0)})
    v->mutable_type()->mutable_tensor_type()->clear_shape();
  file("m.onnx", model.SerializeAsString());
  succeeds({"convert", in, "-o", path("o.tflite")});
}

TEST_F(BadInput, OperatorWithVeryManyOperands) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(onnx_bytes(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,4] x) => (float[N,4] y) { y = Concat<axis = 0>(x) })")));
  for (int i = 0; i < 100'000; ++i) model.mutable_graph()->mutable_node(0)->add_input("x");
  EXPECT_EQ(gantry({"check", file("m.onnx", model.SerializeAsString())}).status, 0);
}

TEST_F(BadInput, JsonOfAFailure) {
  const ProcessResult r = gantry({"check", file("empty.onnx", ""), "--json"});
  EXPECT_EQ(r.status, 3);
  EXPECT_EQ(nlohmann::json::parse(r.out)["code"], "E0303");
}

TEST_F(BadInput, ShapeForAnotherFormat) {
  const std::string out = path("o.tflite");
  succeeds({"convert", onnx("relu.onnx", kReluModel), "-o", out});
  fails({"opt", out, "--shape", "x=1,4"}, 2, "E0201");
}

TEST_F(BadInput, InterruptedWhileWriting) {
  // Weights large enough that the file aside can be seen before it is whole.
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(onnx_bytes(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,4] x) => (float[N,4] y) <float[1,4] w = {1, 2, 3, 4}> { y = Add(x, w) })")));
  onnx::TensorProto& w = *model.mutable_graph()->mutable_initializer(0);
  w.clear_float_data();
  w.set_dims(0, std::int64_t{1} << 22);
  w.set_raw_data(std::string(std::size_t{1} << 26, '\1'));
  const std::string in = file("m.onnx", model.SerializeAsString());
  std::filesystem::create_directory(path("out"));
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(path("out")), std::filesystem::directory_iterator());
  };
  const std::string program = std::string(GANTRY_TEST_BIN_DIR) + "/gantry", out = path("out/o.tflite");
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) && std::freopen("/dev/null", "w", stdout))
      execl(program.c_str(), program.c_str(), "convert", in.c_str(), "-o", out.c_str(), nullptr);
    _exit(126);
  }
  int status = 0;
  while (count() == 0 && waitpid(child, &status, WNOHANG) == 0) {
  }
  kill(child, SIGINT);
  waitpid(child, &status, 0);
  // Interrupted, or done before that: never something in between.
  const bool interrupted = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
  EXPECT_TRUE(interrupted || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  EXPECT_EQ(count(), std::filesystem::exists(out) ? 1 : 0);
}

TEST_F(BadInput, PipesAreNoModels) {
  const std::string pipe = path("pipe.onnx");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  refused(pipe, "E0301");
  fails({"verify", pipe, pipe}, 3, "E0301");
}

TEST_F(BadInput, ClosedStandardStreams) {
  const std::string in = onnx("relu.onnx", kReluModel), out = path("o.tflite"),
                    program = std::string(GANTRY_TEST_BIN_DIR) + "/gantry";
  succeeds({"convert", in, "-o", path("o2.tflite")});
  run_process({"/bin/sh", "-c", program + " convert " + in + " -o " + out + " -v <&- >&- 2>&-"}, options_);
  EXPECT_EQ(read_file(out), read_file(path("o2.tflite"))) << "the log went into the output";
}

TEST_F(BadInput, FullDisk) {
  const std::string in = onnx("relu.onnx", kReluModel);
  std::filesystem::create_directory(path("full"));
  if (mount("none", path("full").c_str(), "tmpfs", 0, "size=4k") != 0)
    GTEST_SKIP() << "needs the right to mount a tmpfs";
  write_file(path("full/fill"), std::string(1 << 16, 'x'));
  const ProcessResult r = gantry({"convert", in, "-o", path("full/out.tflite")});
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(path("full"))) left.push_back(entry.path().filename());
  umount(path("full").c_str());
  EXPECT_EQ(r.status, 7) << r.err;
  EXPECT_THAT(r.last_line(), StartsWith("gantry: failed E0701 "));
  EXPECT_THAT(left, testing::ElementsAre("fill"));
}

TEST_F(BadInput, NamesFromTheFileCannotSteerTheTerminal) {
  const std::string in = path("m.onnx");
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(onnx_bytes(kReluModel)));
  model.mutable_graph()->mutable_node(0)->set_op_type("Re\x1b[2Jlu");
  model.mutable_graph()->mutable_node(0)->set_name("\x1b]0;title\x07");
  write_file(in, model.SerializeAsString());
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"check", in}, {"inspect", in}, {"convert", in, "-o", path("x.tflite")}}) {
    const ProcessResult r = gantry(arguments);
    EXPECT_EQ(r.out.find('\x1b'), std::string::npos);
    EXPECT_EQ(r.err.find('\x1b'), std::string::npos);
  }
  // Names that are no UTF-8, and control characters above ASCII.
  EXPECT_THAT(gantry({"check", path("\xff\xc2\x9b.onnx")}).err, HasSubstr("\\xff\\xc2\\x9b.onnx"));
}

}  // namespace
}  // namespace gantry::test
