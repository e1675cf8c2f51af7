package scan

import (
	"path"
	"strings"
)

// languages names languages by the end of a file's name.
var languages = map[string]string{
	".go": "go", ".py": "python", ".pyi": "python", ".ipynb": "python", ".java": "java",
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript", ".vue": "vue",
	".svelte": "svelte", ".astro": "astro",
	".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp",
	".cs": "csharp", ".php": "php", ".rb": "ruby", ".erb": "ruby", ".rs": "rust",
	".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".swift": "swift", ".groovy": "groovy", ".gradle": "groovy",
	".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".clj": "clojure", ".dart": "dart", ".lua": "lua",
	".pl": "perl", ".r": "r",
	".sh": "shell", ".bash": "shell", ".zsh": "shell", ".ps1": "powershell", ".sql": "sql", ".html": "html",
	".htm": "html", ".css": "css",
	".tf": "terraform", ".tfvars": "terraform", ".hcl": "hcl", ".bicep": "bicep",
	".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".xml": "xml", ".ini": "ini",
	".properties": "properties", ".env": "env",
	".md": "markdown", ".dockerfile": "dockerfile",
}

// Language returns the name of a file's language, in lower case, by its name
// alone, and "text" when it has none.
func Language(name string) string {
	base := strings.ToLower(path.Base(name))
	if l, ok := languages[path.Ext(base)]; ok {
		return l
	}
	switch {
	case strings.HasPrefix(base, "dockerfile"), strings.HasPrefix(base, "containerfile"):
		return "dockerfile"
	case base == "makefile", base == "jenkinsfile":
		return base
	case strings.HasPrefix(base, ".env"):
		return "env"
	}
	return "text"
}
