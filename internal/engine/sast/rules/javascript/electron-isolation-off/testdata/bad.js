const { BrowserWindow } = require("electron");

function open() {
  // ruleid: electron-isolation-off
  return new BrowserWindow({ width: 800, webPreferences: { nodeIntegration: true, contextIsolation: false } });
}
