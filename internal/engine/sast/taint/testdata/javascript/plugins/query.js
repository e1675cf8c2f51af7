// The library itself: what it takes as a page is for its callers to say.
(function () {
  const jQuery = function (selector) { return new jQuery.fn.init(selector); };
  jQuery.fn = jQuery.prototype = { version: "0" };
  jQuery.fn.page = function (text) {
    this[0].innerHTML = text;
    return this;
  };
  window.jQuery = jQuery;
})();
