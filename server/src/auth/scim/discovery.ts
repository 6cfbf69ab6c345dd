const core = 'urn:ietf:params:scim:schemas:core:2.0:'
const messages = 'urn:ietf:params:scim:api:messages:2.0:'

export const schemas = {
  user: `${core}User`,
  group: `${core}Group`,
  list: `${messages}ListResponse`,
  error: `${messages}Error`,
} as const

export const maxPage = 200

/** What the service supports (RFC 7643, section 5). */
export const serviceProviderConfig = (base: string) => ({
  schemas: [`${core}ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: maxPage },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The SCIM token of the identity provider, from the settings of single sign-on',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
})

export const resourceTypes = (base: string) =>
  (['User', 'Group'] as const).map((name) => ({
    schemas: [`${core}ResourceType`],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema: core + name,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }))

interface Attribute {
  name: string
  type?: 'string' | 'boolean' | 'complex' | 'reference'
  required?: boolean
  uniqueness?: 'none' | 'server'
  multiValued?: boolean
  subAttributes?: readonly Attribute[]
}

function attribute({ subAttributes, ...given }: Attribute): object {
  return {
    ...{ type: 'string', multiValued: false, required: false, caseExact: false, uniqueness: 'none' },
    ...{ mutability: 'readWrite', returned: 'default', description: given.name },
    ...given,
    ...(subAttributes !== undefined && { subAttributes: subAttributes.map(attribute) }),
  }
}

const attributes: Record<'User' | 'Group', readonly Attribute[]> = {
  User: [
    { name: 'userName', required: true, uniqueness: 'server' },
    { name: 'externalId' },
    { name: 'displayName' },
    { name: 'name', type: 'complex', subAttributes: [{ name: 'givenName' }, { name: 'familyName' }] },
    {
      name: 'emails',
      type: 'complex',
      multiValued: true,
      subAttributes: [{ name: 'value' }, { name: 'type' }, { name: 'primary', type: 'boolean' }],
    },
    { name: 'active', type: 'boolean' },
  ],
  Group: [
    { name: 'displayName', required: true, uniqueness: 'server' },
    { name: 'externalId' },
    {
      name: 'members',
      type: 'complex',
      multiValued: true,
      subAttributes: [{ name: 'value' }, { name: '$ref', type: 'reference' }],
    },
  ],
}

export const schemaDocuments = (base: string) =>
  (['User', 'Group'] as const).map((name) => ({
    schemas: [`${core}Schema`],
    id: core + name,
    name,
    description: name,
    attributes: attributes[name].map(attribute),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${core}${name}` },
  }))
