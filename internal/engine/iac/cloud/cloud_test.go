package cloud

import (
	"testing"

	"merlon/internal/scan/scantest"
)

func Test(t *testing.T) { scantest.Run(t, Analyzer) }
