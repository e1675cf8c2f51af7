const jq = require("jquery");

const panel = {
  show(message) {
    // ruleid: cross-site-scripting-library
    this.region.html(message);
  },
  note(message) {
    // ruleid: cross-site-scripting-library
    return $("<div>" + message + "</div>");
  },
  add(list, message) {
    // ruleid: cross-site-scripting-library
    list.append("<li>" + message + "</li>");
  },
  paste(message) {
    // ruleid: cross-site-scripting-library
    document.execCommand("insertHTML", false, message);
  },
  module(message) {
    // ruleid: cross-site-scripting-library
    return jq("<b>" + message + "</b>");
  },
  find(id) {
    // ok: cross-site-scripting-library
    return $("#" + id);
  },
  push(list, message) {
    // ok: cross-site-scripting-library
    list.append(message);
  },
  bold(message) {
    // ok: cross-site-scripting-library
    document.execCommand("insertText", false, message);
  },
  escaped(message) {
    // ok: cross-site-scripting-library
    return $("<i>" + encodeURIComponent(message) + "</i>");
  },
};

module.exports = panel;
