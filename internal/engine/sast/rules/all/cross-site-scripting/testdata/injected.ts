import { Component, inject } from "@angular/core";
import { ActivatedRoute } from "@angular/router";
import { DomSanitizer } from "@angular/platform-browser";

@Component({ selector: "app-banner", template: "" })
export class Banner {
  private readonly route = inject(ActivatedRoute);
  private readonly sanitizer = inject(DomSanitizer);

  show() {
    const text: string = this.route.snapshot.queryParams.text;
    // ruleid: cross-site-scripting-dom
    return this.sanitizer.bypassSecurityTrustHtml(text.trim());
  }

  fixed() {
    // ok: cross-site-scripting-dom
    return this.sanitizer.bypassSecurityTrustHtml("<b>Sale</b>");
  }
}
