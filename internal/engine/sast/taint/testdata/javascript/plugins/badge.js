(function ($) {
  function Badge(element, options) {
    this.$element = $(element); // want selector
    this.options = options;
    this.draw();
  }

  Badge.prototype = {
    draw: function () {
      this.$element.html(this.options.label); // want html
      this.$element.text(this.options.label);
    },
    rename: function (name) {
      const $name = $("<b>" + name + "</b>"); // want html
      this.$element.data("name", $name);
    },
  };

  function toggle(state) {
    this.append("<i>" + state + "</i>"); // want html
  }

  function local(text) {
    $("<i>" + text + "</i>");
  }

  $.fn.badge = function (options) {
    return this.each(function () { new Badge(this, options); });
  };
  $.fn.badge.Constructor = Badge;
  $.fn.toggleState = toggle;
  $.count = function () { local("one"); };
})(jQuery);
