const own = Object.prototype.hasOwnProperty;
const refused = ["__proto__", "constructor", "prototype"];

exports.merge = function merge(target, source) {
  for (const key in source) {
    if (key === "__proto__" || key === "constructor" || key === "prototype") continue;
    if (typeof source[key] === "object") merge(target[key], source[key]);
    else target[key] = source[key];
  }
};

exports.mergeList = function mergeList(target, source) {
  for (const key of Object.keys(source)) {
    if (refused.includes(key)) continue;
    if (typeof source[key] === "object") mergeList(target[key], source[key]);
    else target[key] = source[key];
  }
};

exports.mergePosition = function mergePosition(target, source) {
  for (const key of Object.keys(source)) {
    if (refused.indexOf(key) !== -1) continue;
    if (typeof source[key] === "object") mergePosition(target[key], source[key]);
    else target[key] = source[key];
  }
};

function refuses(key) {
  return key === "__proto__" || key === "constructor";
}

exports.mergeHelper = function mergeHelper(target, source) {
  for (const key in source) {
    if (refuses(key)) continue;
    if (typeof source[key] === "object") mergeHelper(target[key], source[key]);
    else target[key] = source[key];
  }
};

// The target's own keys are not inherited.
exports.setOwn = function (object, section, name, value) {
  if (!object.hasOwnProperty(section)) return;
  object[section][name] = value;
};

exports.setOwnToo = function (object, section, name, value) {
  if (!Object.prototype.hasOwnProperty.call(object, section)) return;
  object[section][name] = value;
};

// One level reaches no inherited object.
exports.copy = function (target, source) {
  for (const key in source) target[key] = source[key];
  return target;
};

exports.group = function (list) {
  const groups = new Map();
  for (const item of list) {
    if (!groups.has(item.kind)) groups.set(item.kind, {});
    groups.get(item.kind)[item.name] = item.value;
  }
  return groups;
};

exports.index = function (list) {
  const index = Object.create(null);
  for (const item of list) {
    index[item.kind] = index[item.kind] || {};
    index[item.kind][item.name] = item.value;
  }
  return index;
};

exports.cell = function (rows, value) {
  for (let i = 0; i < rows.length; i++) {
    for (let j = 0; j < rows[i].length; j++) rows[i][j] = value;
  }
};

// Sums and lengths are indexes.
function append(list, values) {
  let index = -1;
  const offset = list.length;
  while (++index < values.length) list[offset + index] = values[index];
}

function number(set, list) {
  let index = -1;
  set.forEach((value) => {
    list[++index] = value;
  });
}

exports.fill = function (tree, key, at, values) {
  append(tree[key], values);
  number(values, tree[key]);
  tree[key][at + 1] = values;
  tree[key][tree[key].length] = values;
};

// Under its own keys an object has what was put there.
exports.texts = function (table, unit) {
  for (const key of Object.keys(table)) {
    const row = table[key];
    for (const column in row) row[column] = String(row[column]) + unit.name;
  }
  return table;
};
