function drop(user, group) {
  // ok: privileges-kept
  process.initgroups(user, group);
  process.setgid(group);
  process.setuid(user);
}
