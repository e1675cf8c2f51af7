// A function value that approves of its parameter by returning, made where nothing is called.
const known = ['a', 'b'];
function register(target, extra) {
  const own = extra;
  target.check = (name) => {
    if (!known.includes(name)) throw own;
    return name;
  };
}
register(module, 1);
