from graphene_django.views import GraphQLView

# ruleid: graphql-introspection
view = GraphQLView.as_view(schema=schema, graphiql=True)
