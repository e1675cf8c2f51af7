function drop(user, group) {
  // ruleid: privileges-kept
  process.setuid(user);
  process.setgid(group);
}
