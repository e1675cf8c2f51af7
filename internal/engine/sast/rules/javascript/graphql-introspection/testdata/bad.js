const { ApolloServer } = require("@apollo/server");

function server(schema) {
  // ruleid: graphql-introspection
  return new ApolloServer({ schema, introspection: true });
}
