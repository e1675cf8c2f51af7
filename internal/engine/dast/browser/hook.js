// Runs in every document before its own scripts. It tells what cannot be seen from
// outside: which elements listen to what, which sinks take which text. It keeps its own
// copies of what it uses, since the page may replace anything.
(() => {
  const config = CONFIG;
  const {JSON, Object, Array, Map, Set, WeakMap, Date, String, Math, Error, Reflect} = globalThis;
  const stringify = JSON.stringify, now = Date.now, define = Object.defineProperty;
  const native = globalThis[config.key];
  try { delete globalThis[config.key]; } catch {}
  if (typeof native !== "function") return;
  let reports = 0;
  const report = (kind, text) => {
    if (reports++ > 3000) return;
    try { native(stringify({kind, text})); } catch {}
  };
  const short = (value, n) => { const s = String(value); return s.length > n ? s.slice(0, n) : s; };

  // Functions whose call proves that a script was executed. In a document that is cut off
  // from the page's origin, such as one of data: or in a sandbox, it proves nothing.
  const cut = globalThis.origin === "null";
  for (const name of config.names || []) {
    define(globalThis, name, {value: () => { if (!cut) report("call", name); }, enumerable: false});
  }

  if (config.name && globalThis === globalThis.top) globalThis.name = config.name;

  // What the browser keeps for the page: another value in the trial, and the names that
  // scripts ask for.
  const mine = globalThis === globalThis.top && !cut;
  for (const {kind, name, value} of (mine && config.kept) || []) {
    try {
      if (kind === "cookie") document.cookie = name + "=" + value + "; path=/";
      else (kind === "local" ? localStorage : sessionStorage).setItem(name, value);
    } catch {}
  }
  function keep() {
    if (!mine) return;
    const told = new Set(), real = new WeakMap();
    const asked = (kind, name) => {
      const key = kind + " " + name;
      if (typeof name === "string" && name !== config.key && !told.has(key)) { told.add(key); report("kept", {kind, name: short(name, 200)}); }
    };
    for (const method of ["getItem", "setItem", "removeItem", "clear", "key"]) {
      const original = Storage.prototype[method];
      Storage.prototype[method] = function (...args) {
        const self = real.get(this) || this;
        if (method === "getItem") asked(self === session ? "session" : "local", args[0]);
        return original.apply(self, args);
      };
    }
    let session;
    for (const [property, kind] of [["localStorage", "local"], ["sessionStorage", "session"]]) {
      try {
        const store = globalThis[property];
        if (kind === "session") session = store;
        const proxy = new Proxy(store, {
          get: (to, name) => { if (name in Storage.prototype) return typeof to[name] === "function" ? to[name].bind(to) : to[name]; asked(kind, name); return to[name]; },
          set: (to, name, value) => { to[name] = value; return true; },
        });
        real.set(proxy, store);
        define(globalThis, property, {configurable: true, get: () => proxy});
      } catch {}
    }
    const cookie = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
    define(Document.prototype, "cookie", {configurable: true, enumerable: true, get() { return cookie.get.call(this); },
      set(text) { const name = String(text).split("=", 1)[0].trim(); if (name) asked("cookie", name); cookie.set.call(this, text); }});
  }

  // Listeners.
  const listeners = new WeakMap();
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    try {
      const self = this ?? globalThis;
      if (listener && self instanceof Element) {
        let types = listeners.get(self);
        if (!types) listeners.set(self, types = new Map());
        types.set(String(type), (types.get(String(type)) || "") + short(listener, 1000).slice(0, 1000));
      } else if (listener && self === globalThis && type === "message") {
        report("message", short(listener, 4000));
      }
    } catch {}
    return add.call(this, type, listener, options);
  };

  // What would leave the page or never end.
  let windows = 0;
  const open = globalThis.open;
  if (open) globalThis.open = function (...args) {
    if (config.trusted) tellOf("Window open", "navigation", args[0]);
    // Another window is not let live; an address of script runs with the rights of this one in either.
    if (config.names?.length && /^\s*javascript:/i.test(args[0])) return open.call(globalThis, args[0], "_self");
    return windows++ < 5 ? open.apply(this, args) : null;
  };
  globalThis.print = () => {};
  globalThis.close = () => {};
  if (navigator.serviceWorker) {
    navigator.serviceWorker.register = (script) => { try { report("worker", short(new URL(script, document.baseURI).href, 2000)); } catch {}; return new Promise(() => {}); };
  }

  // What a page does after some seconds, it does soon, and once: what waits again in
  // there, such as a page that asks for news, waits as long as it wants.
  let awaited = 0, hurried = 0;
  if (config.hurry) {
    const wait = globalThis.setTimeout, soon = 400;
    let inside = false;
    globalThis.setTimeout = function (handler, ms, ...rest) {
      if (typeof handler !== "function" || !(ms > soon && ms <= 10000) || inside || hurried++ >= 20) return wait.call(this, handler, ms, ...rest);
      awaited = Math.max(awaited, now() + soon);
      return wait.call(this, function (...args) { inside = true; try { return handler.apply(this, args); } finally { inside = false; } }, soon, ...rest);
    };
  }

  // Changes of the document.
  let changed = now();
  const attach = Element.prototype.attachShadow;
  const shadows = new WeakMap();
  const watch = (root) => new MutationObserver(() => { changed = now(); }).observe(root, {subtree: true, childList: true, attributes: true, attributeFilter: ["hidden", "class", "style", "href", "action", "disabled", "open"]});
  watch(document);
  Element.prototype.attachShadow = function (init) {
    const root = attach.call(this, init);
    shadows.set(this, root);
    watch(root);
    return root;
  };

  // Fields that have another value from the beginning: observers run before the next
  // script of the document does.
  if (config.values) {
    new MutationObserver((changes) => {
      for (const change of changes) for (const node of change.addedNodes) {
        if (node.nodeType !== 1) continue;
        for (const element of [node, ...node.querySelectorAll("input, textarea")]) {
          const value = element.matches("input, textarea") && Object.hasOwn(config.values, element.name) ? config.values[element.name] : null;
          if (value === null || /^(hidden|submit|button|image|reset|file|checkbox|radio)$/.test(element.type)) continue;
          if (element.tagName === "TEXTAREA") element.textContent = value; else element.setAttribute("value", value);
        }
      }
    }).observe(document, {subtree: true, childList: true});
  }

  // Errors.
  add.call(globalThis, "error", (e) => { if (e.message) report("error", short(e.message, 500)); });
  add.call(globalThis, "unhandledrejection", (e) => report("error", short(e.reason, 500)));

  // Parameters that scripts read, and texts that reach sinks.
  const tell = (kind, key, value) => report(kind, {...key, value: short(value, 3000), at: short(new Error().stack, 1500)});
  const tellOf = (sink, type, text) => { try { if (String(text).includes(config.canary)) tell("sink", {sink, type}, text); } catch {} };
  if (config.trusted) {
    const read = new Set();
    const {fetch} = globalThis, request = XMLHttpRequest.prototype.open;
    globalThis.fetch = function (what) { tellOf("Window fetch", "request", what?.url ?? what); return fetch.apply(this, arguments); };
    XMLHttpRequest.prototype.open = function (method, address) { tellOf("XMLHttpRequest open", "request", address); return request.apply(this, arguments); };
    keep();
    for (const method of ["get", "getAll", "has"]) {
      const original = URLSearchParams.prototype[method];
      URLSearchParams.prototype[method] = function (name) {
        if (!read.has(name)) { read.add(name); report("parameter", {name: short(name, 200), of: short(this, 4000)}); }
        return original.apply(this, arguments);
      };
    }
    try {
      const take = (text, type, sink) => { tellOf(sink, type, text); return text; };
      globalThis.trustedTypes?.createPolicy("default", {createHTML: take, createScript: take, createScriptURL: take});
    } catch {}
  }

  // What a signed-in user's browser would already hold.
  try {
    const kept = (config.storage || {})[location.origin];
    if (kept && globalThis === globalThis.top && !sessionStorage.getItem(config.key)) {
      sessionStorage.setItem(config.key, "1");
      for (const [name, value] of Object.entries(kept.local || {})) localStorage.setItem(name, value);
      for (const [name, value] of Object.entries(kept.session || {})) sessionStorage.setItem(name, value);
    }
  } catch {}

  // Every element, those in shadow trees and frames of the same origin too.
  const maxElements = 20000;
  const shadowOf = (element) => element.shadowRoot || shadows.get(element);
  const all = () => {
    const out = [];
    const walk = (root) => {
      for (const element of root.querySelectorAll("*")) {
        if (out.length >= maxElements) return;
        out.push(element);
        const shadow = shadowOf(element);
        if (shadow) walk(shadow);
        if (element.tagName === "IFRAME" || element.tagName === "FRAME") {
          try { if (element.contentDocument) walk(element.contentDocument); } catch {}
        }
      }
    };
    walk(document);
    return out;
  };
  const find = (selector) => {
    const search = (root) => {
      const direct = root.querySelector(selector);
      if (direct) return direct;
      for (const element of root.querySelectorAll("*")) {
        const shadow = shadowOf(element);
        const inner = shadow && search(shadow);
        if (inner) return inner;
      }
      return null;
    };
    return search(document);
  };
  const visible = (element) => {
    try {
      if (!element.checkVisibility({visibilityProperty: true})) return false;
      const box = element.getBoundingClientRect();
      return box.width > 0 && box.height > 0;
    } catch { return false; }
  };
  const usable = (element) => visible(element) && !element.disabled && element.getAttribute("aria-disabled") !== "true";

  // Acting as a person would.
  const fire = (element, type, extra) => {
    const init = {bubbles: true, cancelable: true, composed: true, view: element.ownerDocument.defaultView || globalThis, ...extra};
    const kind = /^(mouse|click|dbl|context)/.test(type) ? MouseEvent : /^pointer/.test(type) ? PointerEvent :
      /^key/.test(type) ? KeyboardEvent : /^(focus|blur)/.test(type) ? FocusEvent : /^input/.test(type) ? InputEvent : Event;
    try { element.dispatchEvent(new kind(type, init)); } catch {}
  };
  const press = (element) => {
    try { element.scrollIntoView({block: "center"}); } catch {}
    for (const type of ["pointerover", "mouseover", "pointerdown", "mousedown"]) fire(element, type, {button: 0, buttons: 1});
    try { element.focus?.({preventScroll: true}); } catch {}
    for (const type of ["pointerup", "mouseup"]) fire(element, type, {button: 0});
    if (element.click) element.click(); else fire(element, "click");
  };
  const written = new WeakSet(); // fields with a value of the scan
  const write = (element, value) => {
    written.add(element);
    try { element.focus?.({preventScroll: true}); } catch {}
    if (element.isContentEditable) {
      element.textContent = value;
    } else if (element.tagName === "SELECT") {
      element.value = value;
    } else if (element.type === "checkbox" || element.type === "radio") {
      if (!element.checked) element.click();
      return;
    } else {
      // Frameworks replace the property of the element; the prototype's is the real one.
      const prototype = element.tagName === "TEXTAREA" ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
      try { Object.getOwnPropertyDescriptor(prototype, "value").set.call(element, value); } catch { return; }
    }
    fire(element, "keydown", {key: "a"});
    fire(element, "input", {data: String(value), inputType: "insertText"});
    fire(element, "keyup", {key: "a"});
    fire(element, "change");
  };

  const person = (element) => /user|login|mail|account|nick|(^|[-_])name/i.test(element.name || element.id || "");

  // Forms that show who the user is and would give him another password; as they were
  // before anything was written into them.
  const accounts = new WeakMap();
  const account = (element) => {
    const root = element.form || element.closest("form, section, main");
    if (!root) return false;
    if (!accounts.has(root)) {
      const own = fields(root), passwords = own.filter((e) => e.type === "password");
      const shown = own.filter((e) => /^(text|email|tel)$/.test(e.type) && e.value !== "" && person(e)).length;
      const fresh = passwords.length > 1 || passwords.some((e) => e.autocomplete === "new-password");
      accounts.set(root, shown > 1 || shown === 1 && fresh);
    }
    return accounts.get(root);
  };

  // What is added to the value of a field for a password, so that a form that gives the
  // user another one is refused: nothing, or the number of the field. A form that asks
  // who somebody is signs him in or registers him.
  const newPassword = (element) => {
    const root = element.form || element.closest("form, section, main");
    const own = root ? fields(root) : [];
    if (own.some((e) => e.type !== "password" && person(e))) return "";
    const at = own.filter((e) => e.type === "password").indexOf(element);
    return at > 0 ? at : "";
  };

  // The values of the scan.
  const sample = (kind) => config.samples?.[kind] ?? "";

  // A value that a form is likely to take.
  const plausible = (element) => {
    const type = (element.type || "").toLowerCase();
    const hint = [element.name, element.id, element.autocomplete, element.placeholder, element.getAttribute("aria-label"), element.labels?.[0]?.textContent]
      .filter((s) => typeof s === "string").join(" ").toLowerCase();
    if (element.tagName === "SELECT") {
      const options = [...element.options].filter((o) => !o.disabled && o.value !== "");
      return options.length ? options[0].value : element.value;
    }
    const fit = (value) => {
      const limit = element.maxLength > 0 ? element.maxLength : 200;
      return String(value).slice(0, limit);
    };
    const bound = (value) => {
      const low = parseFloat(element.min), high = parseFloat(element.max);
      if (!isNaN(low) && value < low) return low;
      if (!isNaN(high) && value > high) return high;
      return value;
    };
    switch (type) {
      case "email": return sample("mail");
      case "url": return sample("url");
      case "tel": return "+12025550143";
      case "number": case "range": return String(bound(/year/.test(hint) ? 1990 : /zip|postal/.test(hint) ? 10115 : 1));
      case "date": return "2001-02-03";
      case "datetime-local": return "2001-02-03T04:05";
      case "month": return "2001-02";
      case "week": return "2001-W05";
      case "time": return "04:05";
      case "color": return "#336699";
      case "password": return account(element) ? "" : sample("password") + newPassword(element);
    }
    if (element.value && type !== "search") return element.value;
    for (const [pattern, value] of [
      [/mail/, sample("mail")], [/pass(word|wd)|pwd/, sample("password")], [/url|website|homepage/, sample("url")],
      [/phone|mobile|telefon|\btel\b/, "+12025550143"], [/card.?(no|num)|cc-?num|creditcard/, "4111111111111111"], [/cvc|cvv|csc/, "123"],
      [/expir/, "12/39"], [/zip|postal|postcode|plz/, "10115"], [/date|birth|dob/, "2001-02-03"], [/year/, "1990"], [/month/, "2"], [/\bage\b/, "30"],
      [/amount|price|quantity|qty|count|number|\bid\b|_id|num\b/, "1"], [/country/, "Germany"], [/city|town|\bort\b/, "Berlin"], [/street|address|strasse/, "Main Street 1"],
      [/first.?name|given/, "Sam"], [/last.?name|surname|family/, "Scan"], [/user|login|account/, sample("text")], [/name/, sample("text")],
      [/search|query|\bq\b|find|filter|such/, "a"], [/title|subject/, sample("text")], [/comment|message|text|body|review|feedback|description/, sample("text")],
    ]) if (pattern.test(hint)) return fit(value);
    return fit(sample("text"));
  };
  const fields = (root) => [...root.querySelectorAll("input, textarea, select, [contenteditable=true], [contenteditable='']")];
  const fillable = (element) => !/^(hidden|submit|button|image|reset|file)$/.test((element.type || "").toLowerCase()) && !element.readOnly && !element.disabled;
  // Whether a choice stays as it stands: a box may give rights, or switch something on.
  const chosen = (element) => {
    switch (element.type) {
      case "checkbox": return !element.required && !/agree|accept|terms|consent|tos$|privacy|agb|datenschutz|conditions/i.test(element.name || element.id || "");
      case "radio": return !!element.form?.querySelector(`input[type=radio][name="${CSS.escape(element.name)}"]:checked`);
    }
    return element.tagName === "SELECT" && element.value !== "";
  };
  const fillAll = (root, values) => {
    const radios = new Set();
    for (const element of fields(root).slice(0, 200)) {
      if (!fillable(element)) continue;
      if (element.type === "radio") { if (radios.has(element.name)) continue; radios.add(element.name); }
      if (chosen(element)) continue;
      const given = values && (values[element.name] ?? values[element.id]);
      write(element, given ?? plausible(element));
    }
  };
  const submitButton = (root) => root.querySelector("button[type=submit], input[type=submit], input[type=image]") ||
    [...root.querySelectorAll("button, [role=button], input[type=button]")].filter((b) => b.type !== "reset" && usable(b)).pop();

  // The words on a control.
  const label = (element) => short([element.innerText || element.value || "", element.getAttribute("aria-label"), element.title, element.id, element.name, element.getAttribute("href")]
    .filter((s) => typeof s === "string" && s).join(" ").replace(/\s+/g, " ").trim(), 200);

  // Structure without text.
  const hash = (text) => {
    let a = 0xdeadbeef, b = 0x41c6ce57;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      a = Math.imul(a ^ c, 2654435761); b = Math.imul(b ^ c, 1597334677);
    }
    return ((a >>> 0).toString(36)) + ((b >>> 0).toString(36));
  };
  const ignored = new Set(["SCRIPT", "STYLE", "LINK", "META", "BR", "NOSCRIPT", "TEMPLATE", "svg", "SVG", "PATH"]);
  let budget = 0;
  const structure = (element) => {
    if (budget-- <= 0 || ignored.has(element.tagName)) return "";
    if (element.hidden || element.getAttribute("aria-hidden") === "true" || element.style?.display === "none") return "";
    const parts = [];
    let previous = "";
    const root = shadowOf(element);
    for (const child of [...(root ? root.children : []), ...element.children]) {
      const text = structure(child);
      if (text && text !== previous) parts.push(text); // a list of three is a list of ten
      if (text) previous = text;
    }
    const text = element.tagName + (element.type || "") + (element.getAttribute("role") || "") + (element.name || "") + "(" + parts.join(",") + ")";
    return text.length > 400 ? element.tagName + hash(text) : text;
  };
  const place = (element) => {
    const parts = [];
    for (let e = element, i = 0; e && e.tagName && i < 5; e = e.parentElement, i++) {
      const classes = typeof e.className === "string" ? e.className.split(/\s+/).filter((c) => c && !/\d|active|selected|focus|hover|ng-(un)?touched|ng-(in)?valid|ng-(pristine|dirty)/.test(c)).slice(0, 3).join(".") : "";
      parts.push(e.tagName + "." + classes + (e.type || "") + (e.getAttribute("role") || ""));
    }
    return parts.join("<");
  };

  const eventTypes = ["click", "dblclick", "mousedown", "mouseup", "mouseover", "mouseenter", "mousemove", "mouseout", "mouseleave", "pointerdown", "pointerup", "pointerover", "pointerenter", "pointermove", "pointerout", "pointerleave", "touchstart", "touchend", "contextmenu", "auxclick", "change", "input", "keydown", "keyup", "keypress", "focus", "blur", "focusin", "focusout", "submit", "dragstart", "dragover", "drop", "wheel", "scroll", "copy", "cut", "paste"];
  const eventsOf = (element) => {
    const own = listeners.get(element);
    return eventTypes.filter((type) => own?.has(type) || typeof element["on" + type] === "function");
  };
  const handlersOf = (element) => {
    const text = eventTypes.map((type) => (listeners.get(element)?.get(type) || "") + (typeof element["on" + type] === "function" ? short(element["on" + type], 1000) : "")).join("");
    return text ? hash(text) : "";
  };
  const clickable = "button, summary, [role=button], [role=menuitem], [role=tab], [role=link], [role=option], [role=switch], [role=checkbox], [onclick], input[type=button], input[type=submit], input[type=image], input[type=reset], label[for]";
  const overlay = "[role=dialog], [role=alertdialog], [aria-modal=true], dialog[open], .modal, .cdk-overlay-container, .mat-mdc-dialog-container, .popup, .overlay, [class*=cookie], [id*=cookie], [class*=consent], [id*=consent], [class*=banner]";
  const around = "nav, header, footer, aside, [role=navigation], [role=banner], [role=menubar], [role=contentinfo], [class*=navbar], [class*=sidebar], [class*=sidenav], [class*=toolbar], [class*=topbar]";
  const inDialog = (element) => { for (let e = element; e; e = e.parentElement || e.getRootNode?.().host) if (e.matches?.(overlay)) return true; return false; };
  const linkOf = (element) => element.tagName === "A" || element.tagName === "AREA" ? element.getAttribute("href") : null;
  const samePage = (href) => href === null || /^\s*(#|javascript:)/i.test(href) || href === "";

  const birth = hash(String(Math.random()) + now());
  let found = [];
  const collect = () => {
    found = [];
    const out = {links: [], forms: [], elements: [], storage: [], title: short(document.title, 200), address: location.href, signature: "", document: birth, secrets: 0};
    const links = new Set();
    const link = (value, base) => {
      if (typeof value !== "string" || !value || links.size >= 3000) return;
      try { links.add(short(new URL(value, base || document.baseURI).href, 8000)); } catch {}
    };
    for (const element of all()) {
      const base = element.ownerDocument.baseURI;
      for (const name of ["href", "src", "action", "formaction", "data", "poster", "cite", "data-href", "data-url", "data-src", "routerlink", "ng-reflect-router-link", "background", "longdesc", "manifest", "ping", "codebase", "archive"]) {
        if (element.hasAttribute?.(name)) link(element.getAttribute(name), base);
      }
      if (element.srcset) for (const part of element.srcset.split(",")) link(part.trim().split(/\s+/)[0], base);
      if (element.tagName === "INPUT" && element.type === "password" && visible(element)) out.secrets++;
      if (element.tagName === "FORM") {
        found.push(element);
        out.forms.push(form(element, found.length - 1));
        continue;
      }
      candidate(element, out);
    }
    out.links = [...links];
    for (const [kind, store] of [["local", () => localStorage], ["session", () => sessionStorage]]) {
      try { for (const name of Object.keys(store()).slice(0, 100)) if (name !== config.key) out.storage.push(kind + ":" + short(name, 200)); } catch {}
    }
    budget = 6000;
    out.signature = hash(structure(document.documentElement));
    return out;
  };
  const candidate = (element, out) => {
    if (out.elements.length >= 600) return;
    const events = eventsOf(element);
    const href = linkOf(element);
    const text = fillable(element) && element.matches("input, textarea, select, [contenteditable=true]") && !element.form && !/^(checkbox|radio)$/.test(element.type || "");
    let kind = "";
    if (text) kind = "input";
    else if (element.matches(clickable) || (href !== null && samePage(href)) || events.length) kind = "press";
    else if (href === null && !element.form) {
      try {
        const pointer = (e) => e && getComputedStyle(e).cursor === "pointer";
        if (visible(element) && pointer(element) && !pointer(element.parentElement)) kind = "press";
      } catch {}
    }
    if (!kind || element.tagName === "HTML" || element.tagName === "BODY" && !events.length) return;
    if (element.form && element.matches("input:not([type=button]), select, textarea, button[type=submit], button:not([type])") && !events.length) return; // the form's own
    if (!usable(element)) return;
    found.push(element);
    out.elements.push({index: found.length - 1, kind, place: place(element), label: label(element), does: handlersOf(element), events, dialog: inDialog(element), frame: !!element.closest(around), href: href || ""});
  };
  const form = (element, index) => {
    const button = submitButton(element);
    return {index, method: (button?.getAttribute?.("formmethod") || element.getAttribute("method") || "get").toUpperCase(), action: button?.hasAttribute?.("formaction") ? button.formAction : element.action && typeof element.action === "string" ? element.action : new URL(element.getAttribute("action") || "", document.baseURI).href,
      type: element.enctype || "", place: place(element), label: label(button || element), visible: visible(element), names: fields(element).map((f) => f.name).filter(Boolean).slice(0, 200)};
  };
  const pairs = (element, values) => {
    const out = [];
    const radios = new Set();
    for (const field of fields(element).slice(0, 500)) {
      if (!field.name || field.disabled || /^(button|reset|image)$/.test(field.type)) continue;
      if (field.type === "submit") continue;
      if (/^(checkbox|radio)$/.test(field.type) && !field.checked && chosen(field)) continue;
      if (field.type === "radio") { if (radios.has(field.name)) continue; radios.add(field.name); }
      const value = field.type === "file" ? "" : field.type === "hidden" || /^(checkbox|radio)$/.test(field.type) ? field.value || "on" : chosen(field) ? field.value : plausible(field);
      out.push({name: short(field.name, 500), value: short(value, 2000), file: field.type === "file", kind: kindOf(field), shown: shows(field)});
    }
    const button = submitButton(element);
    if (button?.name) out.push({name: short(button.name, 500), value: short(button.value || "", 2000), file: false, kind: "button"});
    return out;
  };
  // What a field is to a user who fills the form in.
  const kindOf = (field) => {
    if (field.tagName === "SELECT" || /^(checkbox|radio)$/.test(field.type)) return "choice";
    return {range: "number"}[field.type] || (/^(hidden|password|number|email|url|date|tel|file)$/.test(field.type) ? field.type : "");
  };
  // Whether the page has filled in a field that a user may change.
  const shows = (field) => (field.tagName === "TEXTAREA" || /^(text|email|tel|url|number|date|time|color)$/.test(field.type)) && !!(field.defaultValue || !written.has(field) && field.value).trim();

  // The forms as scripts have left them.
  const filled = () => [...document.forms].slice(0, 50).map((form) => fields(form).filter((e) => e.name).slice(0, 200).map((e) =>
    ({name: short(e.name, 500), type: (e.tagName === "INPUT" ? e.type : e.tagName.toLowerCase()) || "", value: short(e.value ?? "", 4000)})));

  // Chooses what else a list offers: each choice may show something else.
  const choose = (element) => {
    if (!eventsOf(element).some((type) => type === "change" || type === "input")) return;
    for (const option of [...element.options].filter((o) => !o.disabled && o.value !== "").slice(0, 12)) write(element, option.value);
  };

  // Does what is offered with an element of the last collection.
  const act = (index) => {
    const element = found[index];
    if (!element || !element.isConnected) return false;
    if (element.tagName === "FORM") {
      fillAll(element);
      const button = submitButton(element);
      if (button && usable(button)) press(button);
      else try { element.requestSubmit(); } catch { fire(element, "submit"); }
      return true;
    }
    if (fillable(element) && element.matches("input, textarea, select, [contenteditable=true]") && !/^(checkbox|radio|button)$/.test(element.type || "")) {
      if (element.tagName === "SELECT") choose(element);
      write(element, plausible(element));
      fire(element, "keydown", {key: "Enter", code: "Enter", keyCode: 13, which: 13});
      fire(element, "keypress", {key: "Enter", code: "Enter", keyCode: 13, which: 13});
      fire(element, "keyup", {key: "Enter", code: "Enter", keyCode: 13, which: 13});
    } else {
      // A button without a form often belongs to the fields beside it.
      const group = !element.form && element.parentElement?.parentElement;
      if (group && element.matches("button, [role=button]")) fillAll(group);
    }
    const typed = fillable(element) && element.matches("input, textarea, select, [contenteditable=true]") && !/^(checkbox|radio|button)$/.test(element.type || "");
    for (const type of eventsOf(element)) if (!(typed && /^(key|focus|blur)/.test(type)) && !["click", "mousedown", "mouseup", "mouseover", "pointerdown", "pointerup", "pointerover", "submit", "input", "change"].includes(type)) fire(element, type);
    if (!element.matches("input:not([type=button]):not([type=submit]):not([type=checkbox]):not([type=radio]), textarea, select")) press(element);
    return true;
  };

  // Closes what lies over the page: banners, welcome dialogs.
  const dismiss = () => {
    let closed = 0;
    for (const element of all()) {
      if (closed >= 3 || !element.matches?.("button, a, [role=button], input[type=button], [aria-label*=close i], [class*=close]") || !usable(element) || !inDialog(element)) continue;
      const href = linkOf(element);
      if (href !== null && !samePage(href)) continue;
      if (/^(×|x|✕|✖|close.*|dismiss.*|ok(ay)?|got it.*|accept.*|allow.*|agree.*|i (agree|accept|understand).*|me want it!?|continue|skip.*|no,? thanks.*|not now|later|verstanden|akzeptieren.*|alle akzeptieren|schließen|accepter.*|aceptar.*|accetta.*)$/i.test((element.innerText || element.value || element.getAttribute("aria-label") || "").trim()) ||
          /close|dismiss/i.test(element.getAttribute("aria-label") || "")) {
        press(element);
        closed++;
      }
    }
    return closed;
  };

  // Tries what waits for a person and holds the marker: handlers and addresses of scripts;
  // or, of listeners, all.
  const provoke = (marker, listening) => {
    let tried = 0;
    for (const element of all()) {
      if (tried >= 20) break;
      if (listening) for (const type of eventsOf(element)) { tried++; fire(element, type); }
      for (const attribute of [...element.attributes]) {
        if (!attribute.value.includes(marker)) continue;
        const name = attribute.name.toLowerCase();
        if (name.startsWith("on")) { tried++; fire(element, name.slice(2)); }
        else if (/^\s*javascript:/i.test(attribute.value.replace(/[\u0000-\u001f]/g, ""))) {
          tried++;
          if (name === "action" || name === "formaction") { try { (element.form || element).requestSubmit(name === "formaction" ? element : undefined); } catch {} }
          else { try { element.target = ""; } catch {} press(element); } // in another window it would not be seen
        }
      }
    }
    return tried;
  };

  // Signing in: the fields of a user name and a password, wherever they are.
  const login = (user, password, extra, needed) => {
    const inputs = all().filter((e) => e.tagName === "INPUT" && usable(e) && fillable(e));
    const secret = inputs.find((e) => e.type === "password");
    const names = inputs.filter((e) => /^(text|email|tel|)$/.test(e.type || ""));
    const hinted = names.filter((e) => /user|mail|login|name|account|kennung/i.test([e.name, e.id, e.autocomplete, e.placeholder].join(" ")));
    const before = secret ? names.filter((e) => e.compareDocumentPosition(secret) & 4) : names;
    const name = (secret && before.filter((e) => hinted.includes(e)).pop()) || (secret && before.pop()) || hinted[0];
    if (!secret && (needed || !name)) return "";
    for (const [key, value] of Object.entries(extra || {})) {
      const field = inputs.find((e) => e.name === key || e.id === key);
      if (field) write(field, value);
    }
    if (name) write(name, user);
    if (secret) write(secret, password);
    const root = (secret || name).form || (secret || name).closest("[class*=login], [id*=login], main, section, div:has(button)") || document;
    const button = submitButton(root);
    if (button && usable(button)) press(button);
    else if ((secret || name).form) { try { (secret || name).form.requestSubmit(); } catch {} }
    else for (const type of ["keydown", "keypress", "keyup"]) fire(secret || name, type, {key: "Enter", code: "Enter", keyCode: 13, which: 13});
    return secret ? "password" : "user";
  };

  // Where a text from outside stands in the document: as an address that is followed, or
  // in what a framework reads as a template.
  const holders = (canary) => {
    const out = [];
    for (const element of all()) {
      if (out.length >= 50) break;
      for (const name of ["href", "src", "action", "formaction", "data", "xlink:href"]) {
        const value = element.getAttribute?.(name)?.trim();
        if (value?.startsWith(canary) && /^(A|AREA|BASE|IFRAME|FRAME|FORM|BUTTON|INPUT|EMBED|OBJECT)$/i.test(element.tagName)) out.push({kind: element.tagName.toLowerCase() + " " + name, value: short(value, 1000)});
      }
    }
    if (globalThis.angular || globalThis.Vue) {
      const text = document.body?.innerText || "";
      const at = text.indexOf(canary);
      if (at >= 0) out.push({kind: "template", value: text.slice(at, at + 200)});
    }
    return out;
  };
  const listening = () => typeof globalThis.onmessage === "function" ? short(globalThis.onmessage, 4000) : "";
  const post = (messages, origins) => {
    for (const data of messages) for (const origin of origins) {
      try { globalThis.dispatchEvent(new MessageEvent("message", {data, origin, source: null})); } catch {}
    }
  };

  const stored = () => {
    const read = (store) => { const out = {}; try { for (const name of Object.keys(store()).slice(0, 200)) if (name !== config.key) out[name] = short(store().getItem(name), 100000); } catch {} return out; };
    return {origin: location.origin, local: read(() => localStorage), session: read(() => sessionStorage)};
  };

  define(globalThis, config.key, {enumerable: false, configurable: false, writable: false, value: Object.freeze({
    quiet: (ms) => document.readyState !== "loading" && now() - changed >= ms && now() > awaited + ms,
    collect, act, dismiss, filled, provoke, login, stored, holders, listening, post,
    pairs: (index) => found[index] ? pairs(found[index]) : [],
    click: (selector) => { const e = find(selector); if (!e || !usable(e)) return false; press(e); return true; },
    fill: (selector, value) => { const e = find(selector); if (!e || !visible(e)) return false; write(e, value); return true; },
    present: (selector) => { const e = find(selector); return !!e && visible(e); },
  })});
})();
