// ruleid: weak-random
const token = Math.random().toString(36);
