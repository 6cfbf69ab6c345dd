import { createConfig, lintFromString } from '@redocly/openapi-core'

/** Rules of Spectral's set for OpenAPI that Redocly knows and does not recommend. */
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

/** What Redocly's and Spectral's rules find in an OpenAPI document, as `severity place: message`. Asks no other machine. */
export async function lintContract(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: others })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config })
  return problems.map(({ severity, ruleId, message, location }) => {
    const place = location[0]?.pointer ?? '#/'
    return `${severity} ${place}: ${message} (${ruleId})`
  })
}
