package ruletext

import "testing"

const mixed = `Write the path safely.

## Bad

` + "```java\nnew File(dir, name);\n```\n\n```python\nopen(dir + name)  # a comment\n```" + `

## Good

` + "```java\ndir.resolve(name).normalize();\n```\n\n```yaml\npath: fixed\n```" + `

## How to fix

Choose one:

- **Java**: normalize, then
  compare the prefix.
- **Python**: resolve the path.
- Keep a list of names.

Test it.`

func TestForLanguage(t *testing.T) {
	for language, want := range map[string]string{
		"java": `Write the path safely.

## Bad

` + "```java\nnew File(dir, name);\n```" + `

## Good

` + "```java\ndir.resolve(name).normalize();\n```\n\n```yaml\npath: fixed\n```" + `

## How to fix

Choose one:

- **Java**: normalize, then
  compare the prefix.
- Keep a list of names.

Test it.`,
		"python": `Write the path safely.

## Bad

` + "```python\nopen(dir + name)  # a comment\n```" + `

## Good

` + "```yaml\npath: fixed\n```" + `

## How to fix

Choose one:

- **Python**: resolve the path.
- Keep a list of names.

Test it.`,
		"Kotlin": `Write the path safely.

## Good

` + "```yaml\npath: fixed\n```" + `

## How to fix

Choose one:

- Keep a list of names.

Test it.`,
		"":          mixed,
		"Terraform": mixed,
	} {
		t.Run(language, func(t *testing.T) {
			if got := ForLanguage(mixed, language); got != want {
				t.Errorf("got\n%s\n\nwant\n%s", got, want)
			}
		})
	}
	if got := ForLanguage("```javascript\nx\n```\n\n```typescript\ny\n```", "typescript"); got !=
		"```javascript\nx\n```\n\n```typescript\ny\n```" {
		t.Errorf("TypeScript shows %q", got)
	}
	if got := ForLanguage("```typescript\nx: any\n```", "javascript"); got != "" {
		t.Errorf("JavaScript shows %q", got)
	}
}
