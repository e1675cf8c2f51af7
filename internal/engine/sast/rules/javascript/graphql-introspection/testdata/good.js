const { ApolloServer } = require("@apollo/server");

function server(schema) {
  // ok: graphql-introspection
  return new ApolloServer({ schema, introspection: process.env.NODE_ENV === "development" });
}
