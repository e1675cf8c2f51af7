const { BrowserWindow } = require("electron");

function open() {
  // ok: electron-isolation-off
  return new BrowserWindow({ width: 800, webPreferences: { nodeIntegration: false, contextIsolation: true, sandbox: true } });
}
