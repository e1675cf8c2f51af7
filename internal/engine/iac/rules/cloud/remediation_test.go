package cloud

import "testing"

func TestRemediation(t *testing.T) {
	for _, test := range []struct {
		name string
		each string
		must []string
		with []related
		text string
		want string
	}{
		{name: "a value", must: []string{"encrypted|false == true"}, text: "Use KMS.",
			want: "Set `encrypted` to `true`. Use KMS."},
		{name: "presence and absence", must: []string{"kms.key", "!public"}, text: "Do so.",
			want: "Set `kms.key`. Remove `public`. Do so."},
		{name: "limits", must: []string{"days|0 >= 7", "hops <= 1"}, text: "Do so.",
			want: "Set `days` to at least `7`. Set `hops` to at most `1`. Do so."},
		{name: "one of several", must: []string{"tls in ['1.2', '1.3']", "acl notin [public]"}, text: "Do so.",
			want: "Set `tls` to `1.2` or `1.3`. Do not set `acl` to `public`. Do so."},
		{name: "members", must: []string{"logs has audit", "members lacks allUsers"}, text: "Do so.",
			want: "Add `audit` to `logs`. Remove `allUsers` from `members`. Do so."},
		{name: "an entry of a list", must: []string{"setting{name=Stream}.value == true"}, text: "Do so.",
			want: "Set `setting.value` (where `name` is `Stream`) to `true`. Do so."},
		{name: "below each block, except from the root", each: "ingress", must: []string{"port <= 1", "/vpc"},
			text: "Do so.", want: "Set `ingress.port` to at most `1`. Set `vpc`. Do so."},
		{name: "named by the text", must: []string{"encrypted == true"}, text: "Set encrypted = true.",
			want: "Set encrypted = true."},
		{name: "a pattern", must: []string{"policy ~ ^TLS"}, text: "Use TLS.", want: "Use TLS."},
		{name: "many spellings", must: []string{"a notin [1, 2, 3, 4, 5, 6, 7]"}, text: "Do so.", want: "Do so."},
		{name: "another resource", with: []related{{kind: "aws_backup"}}, text: "Do so.",
			want: "Add `aws_backup` for the resource. Do so."},
		{name: "another resource instead", must: []string{"backup"}, with: []related{{kind: "aws_plan"}},
			text: "Do so.", want: "Set `backup`. Or add `aws_plan` for the resource. Do so."},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &check{with: test.with}
			var err error
			if c.must, err = parseAll(test.must); err != nil {
				t.Fatal(err)
			}
			if test.each != "" {
				each, err := parseCondition(test.each)
				if err != nil {
					t.Fatal(err)
				}
				c.each = each.path
			}
			if got := c.remediation(test.text); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
