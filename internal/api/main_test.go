package api_test

import (
	"testing"

	"merlon/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }
