let package = Package(name: "x", dependencies: [
  .package(url: "https://github.com/apple/swift-nio.git", from: "2.0.0"),
])
