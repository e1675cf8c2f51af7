function check(s) {
  // ok: backtracking-regular-expression
  return /^a+$/.test(s);
}
