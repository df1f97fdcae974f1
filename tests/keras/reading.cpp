// Files: all arrangements of weights, and what is broken or hostile.
#include "tests/keras/keras_file.hpp"

namespace gantry::test {
namespace {

using testing::HasSubstr;

KerasModel two_dense() {
  KerasModel m;
  m.input("x", {2});
  m.layer("Dense", "a", {"x"}, {{"units", 2}}, {{"kernel", {2, 2}, {1, 2, 3, 4}}, {"bias", {2}, {1, -1}}});
  m.layer("Dense", "b", {"a"}, {{"units", 1}, {"activation", "relu"}},
          {{"kernel", {2, 1}, {1, 1}}, {"bias", {1}, {0.5F}}});
  m.output("b");
  return m;
}
const std::map<std::string, std::string> kKeys = {{"x", "input_layer"}, {"a", "dense"}, {"b", "dense_1"}};

class Reading : public KerasTest {
 protected:
  void reads(const std::filesystem::path& input) {
    const Status s = convert(input, folder_ / "m.onnx", "qonnx");
    EXPECT_TRUE(s.ok()) << input << ": " << s.error().message;
  }
  void refuses(const std::string& name, const std::string& bytes, Code code, const std::string& reason) {
    const Status s = convert(write(name, bytes), folder_ / "m.onnx", "qonnx");
    ASSERT_FALSE(s.ok()) << name;
    EXPECT_EQ(s.error().code, code) << s.error().message;
    EXPECT_THAT(s.error().message, HasSubstr(reason));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "m.onnx"));
  }
};

TEST_F(Reading, Numbers) {
  const auto y = run(two_dense().hdf5(), {{1, 1}});
  ASSERT_EQ(y.size(), 1U);
  EXPECT_FLOAT_EQ(y[0][0], 1 + 3 + 1 + 2 + 4 - 1 + 0.5F);
}

TEST_F(Reading, EveryArrangement) {
  const KerasModel m = two_dense();
  reads(write("m.h5", m.hdf5()));
  for (const char* group : {"layers", "_layer_checkpoint_dependencies"}) {
    const std::string weights = m.hdf5_of_objects(group, kKeys);
    reads(write("m.keras", zip_of({{"metadata.json", R"({"keras_version": "3.1"})"},
                                   {"config.json", m.config().dump()},
                                   {"model.weights.h5", weights}})));
    write("j.weights.h5", weights);
    reads(write("j.json", m.config().dump()));
  }
}

TEST_F(Reading, HalfAFileIsRefused) {
  const std::string whole = two_dense().hdf5();
  for (std::size_t n = 8; n < whole.size(); n += whole.size() / 40 + 1)
    refuses("cut.h5", whole.substr(0, n), Code::input_malformed, "");
  const std::string zip = zip_of({{"config.json", two_dense().config().dump()}, {"model.weights.h5", whole}});
  for (std::size_t n = 4; n < zip.size(); n += zip.size() / 40 + 1)
    refuses("cut.keras", zip.substr(0, n), Code::input_malformed, "");
}

TEST_F(Reading, MissingWeightsAreNamed) {
  KerasModel m;
  m.input("x", {2});
  m.layer("Dense", "bare", {"x"}, {{"units", 2}}, {{"kernel", {2, 2}, {1, 2, 3, 4}}});
  m.output("bare");
  refuses("m.h5", m.hdf5(), Code::input_malformed, "the weight 'bias' of layer 'bare'");
}

TEST_F(Reading, HostileJson) {
  const std::string weights = two_dense().hdf5_of_objects("layers", kKeys);
  const auto with = [&](const std::string& config) {
    return zip_of({{"config.json", config}, {"model.weights.h5", weights}});
  };
  refuses("deep.keras", with(std::string(200'000, '[')), Code::input_malformed, "nested");
  refuses("none.keras", with("{}"), Code::input_malformed, "class_name");
  refuses("text.keras", with("{\"class_name\": 3"), Code::input_malformed, "no JSON");
  Json circle = two_dense().config();
  circle["config"]["layers"][1]["inbound_nodes"] = {{{"b", 0, 0, Json::object()}}};
  refuses("circle.keras", with(circle.dump()), Code::input_malformed, "circle");
  Json unknown = two_dense().config();
  unknown["config"]["output_layers"] = {{"nobody", 0, 0}};
  refuses("unknown.keras", with(unknown.dump()), Code::input_malformed, "nobody");
  Json huge = two_dense().config();
  huge["config"]["layers"][0]["config"]["batch_input_shape"] = {nullptr, 1e300};
  refuses("huge.keras", with(huge.dump()), Code::input_malformed, "no size");
  Json code = two_dense().config();
  code["class_name"] = "MyModel";
  refuses("code.keras", with(code.dump()), Code::declined, "MyModel");
}

TEST_F(Reading, HostileZip) {
  refuses("up.keras", zip_of({{"../config.json", two_dense().config().dump()}}), Code::input_malformed,
          "no config.json");
  std::string bomb = zip_of({{"config.json", "{}"}, {"model.weights.h5", "x"}});
  const std::size_t entry = bomb.find("PK\x01\x02");
  bomb[entry + 10] = 8;                                                                 // deflated
  for (int i = 0; i < 4; ++i) bomb[entry + 24 + static_cast<std::size_t>(i)] = '\x7f';  // to two gigabytes
  refuses("bomb.keras", bomb, Code::input_malformed, "config.json");
}

}  // namespace
}  // namespace gantry::test
