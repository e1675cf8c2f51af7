import os
import graphene

class Query(graphene.ObjectType):
    def resolve_size(self, info, folder=None):
        return os.popen("du " + folder)  # want command

    def size(self, info, folder=None):
        return 1

class Send(graphene.Mutation):
    def mutate(self, info, host, port=1):
        os.system("ping " + host)  # want command
