libraryDependencies += "org.typelevel" %% "cats-core" % "2.0.0"
