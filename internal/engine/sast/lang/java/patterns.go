package java

import "merlon/internal/engine/sast/lang"

var patterns = lang.Patterns{}
