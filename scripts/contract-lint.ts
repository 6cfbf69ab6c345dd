import { createConfig, lintFromString } from '@redocly/openapi-core'

/** Rules of Spectral's OpenAPI set that Redocly supports but does not recommend. */
const others = {
  'info-contact': 'warn',
  'operation-description': 'warn',
  'operation-tag-defined': 'warn',
  'tag-description': 'warn',
  'rule/operation-tags': {
    subject: { type: 'Operation', property: 'tags' },
    message: 'Operation must have a tag.',
    severity: 'warn',
    assertions: { defined: true, minLength: 1 },
  },
} as const

/** Returns violations of Redocly's and Spectral's rules as `severity place: message`. Makes no network requests. */
export async function lintContract(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: others })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config })
  return problems.map(({ severity, ruleId, message, location }) => {
    const place = location[0]?.pointer ?? '#/'
    return `${severity} ${place}: ${message} (${ruleId})`
  })
}
