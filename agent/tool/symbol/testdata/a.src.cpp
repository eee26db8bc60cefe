#include <vector>
#define LIMIT 3
namespace shop {
template <typename T>
class Basket : public Base {
 public:
  explicit Basket(int n);
  int size() const { return n_; }
};
struct Point;
enum class Colour { Red };
using Id = std::string;
}  // namespace shop
static int helper(const char *name, int n) {
  if (n > 3) {
    return call(n);
  }
  return 0;
}
std::vector<int> shop::Basket::items(int a,
    int b) const {
  return {};
}
