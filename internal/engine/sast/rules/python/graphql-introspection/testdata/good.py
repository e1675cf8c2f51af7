from graphene_django.views import GraphQLView

# ok: graphql-introspection
view = GraphQLView.as_view(schema=schema, graphiql=settings.DEBUG)
