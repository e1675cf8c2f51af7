import { exec } from 'node:child_process';
import common from './common.js';
export async function run(v) {
  exec(v); // want command
  common.again(v);
}
