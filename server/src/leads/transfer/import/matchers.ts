/** Fields that match a row of a file to a lead; a file of its own because the command line loads little else. */
export const matchers = ['externalRef', 'uniqueCode', 'phone', 'id', 'none'] as const
export type Matcher = (typeof matchers)[number]
