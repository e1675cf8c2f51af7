package java

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// meaning says what the layers above must know of Java.
var meaning = lang.Semantics{
	Flow:             true,
	BlockScope:       true,
	ImplicitThis:     true,
	FunctionsApart:   true,
	Builtin:          resolveBuiltin,
	PackagePerFolder: true,
	Comment:          "//",
	Literals: map[tree.Kind]string{
		tree.String: "java.lang.String", tree.Template: "java.lang.String", tree.Character: "char",
		tree.Bool: "boolean",
	},
}

// resolveBuiltin returns the qualified name of a type of java.lang, which is imported
// without a word.
func resolveBuiltin(name string) string {
	if javaLang[name] {
		return "java.lang." + name
	}
	return ""
}

// javaLang holds the types of the package java.lang of Java 21.
var javaLang = func() map[string]bool {
	types := map[string]bool{}
	for _, name := range strings.Fields(`
		Appendable AutoCloseable CharSequence Cloneable Comparable Iterable ProcessHandle Readable Runnable StringTemplate
		Boolean Byte Character Class ClassLoader ClassValue Compiler Double Enum Float InheritableThreadLocal Integer Long Math
		Module ModuleLayer Number Object Package Process ProcessBuilder Record Runtime RuntimePermission ScopedValue
		SecurityManager Short StackTraceElement StackWalker StrictMath String StringBuffer StringBuilder System Thread
		ThreadGroup ThreadLocal Throwable Void
		ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException ClassCastException ClassNotFoundException
		CloneNotSupportedException EnumConstantNotPresentException Exception IllegalAccessException
		IllegalArgumentException IllegalCallerException IllegalMonitorStateException IllegalStateException
		IllegalThreadStateException IndexOutOfBoundsException InstantiationException InterruptedException
		LayerInstantiationException MatchException NegativeArraySizeException NoSuchFieldException NoSuchMethodException
		NullPointerException NumberFormatException ReflectiveOperationException RuntimeException SecurityException
		StringIndexOutOfBoundsException TypeNotPresentException UnsupportedOperationException WrongThreadException
		AbstractMethodError AssertionError BootstrapMethodError ClassCircularityError ClassFormatError Error
		ExceptionInInitializerError IllegalAccessError IncompatibleClassChangeError InstantiationError InternalError
		LinkageError NoClassDefFoundError NoSuchFieldError NoSuchMethodError OutOfMemoryError StackOverflowError
		ThreadDeath UnknownError UnsatisfiedLinkError UnsupportedClassVersionError VerifyError VirtualMachineError
		Deprecated FunctionalInterface Override SafeVarargs SuppressWarnings`) {
		types[name] = true
	}
	return types
}()
