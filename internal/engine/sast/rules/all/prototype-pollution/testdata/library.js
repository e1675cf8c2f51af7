function isObject(x) {
  return x !== null && typeof x === "object";
}

// A recursive merge.
exports.merge = function merge(target, source) {
  for (const key in source) {
    if (isObject(source[key]) && isObject(target[key])) merge(target[key], source[key]);
    // ruleid: prototype-pollution-library
    else target[key] = source[key];
  }
  return target;
};

// The key is the source's own, which says nothing about the target.
exports.mergeOwn = function mergeOwn(target, source) {
  Object.keys(source).forEach(function (key) {
    if (!source.hasOwnProperty(key)) return;
    if (isObject(source[key])) mergeOwn(target[key], source[key]);
    // ruleid: prototype-pollution-library
    else target[key] = source[key];
  });
};

// Any number of sources.
exports.extend = extend;
function extend() {
  const target = arguments[0];
  for (let i = 1; i < arguments.length; i++) {
    for (const name in arguments[i]) {
      // ruleid: prototype-pollution-library
      target[name] = extend(target[name], arguments[i][name]);
    }
  }
  return target;
}

// A value at a path.
exports.set = function (object, path, value) {
  const keys = path.split(".");
  const last = keys.pop();
  while (keys.length) object = object[keys.shift()];
  // ruleid: prototype-pollution-library
  object[last] = value;
};

exports.fold = function (object, path, value) {
  path.split(".").reduce(function (at, key, i, all) {
    // ruleid: prototype-pollution-library
    if (i === all.length - 1) at[key] = value;
    return at[key];
  }, object);
};

// A function that writes several times is one flaw.
exports.fill = function (object, path, value) {
  const keys = path.split(".");
  let at = object;
  for (let i = 0; i < keys.length - 1; i++) {
    if (value === null) at[keys[i]] = object;
    at = at[keys[i]];
  }
  // ruleid: prototype-pollution-library
  at[keys[keys.length - 1]] = value;
};

// The function that writes is another one, and the object that of a closure.
exports.registry = function () {
  const known = {};
  function put(group, name, value) {
    // ruleid: prototype-pollution-library
    group[name] = value;
  }
  return {
    add: function (kind, name, value) {
      put(known[kind], name, value);
    },
  };
};

function Store() {
  this.values = {};
}
Store.prototype.set = function (section, name, value) {
  // ruleid: prototype-pollution-library
  this.values[section][name] = value;
};
exports.Store = Store;

exports.named = function (tree, key, name, value) {
  // ruleid: prototype-pollution-library
  tree[key][name + ""] = value;
};

exports.rows = function (table, rows) {
  for (const key of Object.keys(rows)) {
    const row = table[key];
    // ruleid: prototype-pollution-library
    for (const column in rows[key]) row[column] = rows[key][column];
  }
};
