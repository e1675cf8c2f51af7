// Parts of other objects that look alike are nobody's extension points.
(function (view, pick) {
  view.fn.list = function (items) { return items.length; };
  view.hidden = { show: function (text) { view.html("<i>" + text + "</i>"); } };
  pick("<b>" + view.name);
})(window.view, function (x) { return x; });
