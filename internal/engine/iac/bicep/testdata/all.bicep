targetScope = 'resourceGroup'
metadata about = { by: 'us' }

/* Parameters
   come first. */
@description('Where')
param location string = resourceGroup().location
@secure()
param pw string
@minLength(1)
param sizes array = [
  'a'
  'b' // the last
]
@allowed([ 'x', 'y' ])
param one string = 'x'
type unused = {
  a: 'b' | 'c'
}
func also(a string) string => '${a}!'

var tls = 'TLS1_0'
var obj = { x: tls, y: location }

resource vnet 'Microsoft.Network/virtualNetworks@2021-01-01' existing = {
  name: 'v'
}
resource sub 'Microsoft.Network/virtualNetworks/subnets@2021-01-01' = {
  parent: vnet
  name: 's'
}
@batchSize(1)
resource st 'Microsoft.Storage/storageAccounts@2021-01-01' = [for i in range(0, resourceGroup().tags.count): if (i > 0) {
  name: 'st${i}${location}'
  properties: {
    minimumTlsVersion: tls
    o: obj
    n: -3
    on: !empty(sizes) ? 'a' : null
    tags: [ location, 'x' ]
    nothing: null
    script: '''
a
  b
'''
    key: sub.listKeys().keys[0].value
    ...obj
  }
  resource blob 'blobServices' = {
    name: 'default'
  }
}]
resource bs 'Microsoft.Storage/storageAccounts/queueServices@2021-01-01' = if (true) {
  parent: st
  name: 'default'
}
module net 'net.bicep' = {
  name: 'net'
  params: { a: 1 }
}
output o string = st[0].id
