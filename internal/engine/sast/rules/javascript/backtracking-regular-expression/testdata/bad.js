function check(s) {
  // ruleid: backtracking-regular-expression
  return /^(a+)+$/.test(s);
}
