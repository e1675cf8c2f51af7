import { exec } from 'child_process';
export default function main(a) { exec(a) } // want command
export const f = (b) => exec(b); // want command
function priv(c) { exec(c) } // want command
export { priv as pub };
