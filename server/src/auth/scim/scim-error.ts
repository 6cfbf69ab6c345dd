/** An error in the form of SCIM (RFC 7644, section 3.12). */
export class ScimError extends Error {
  readonly status: number
  readonly scimType:
    | 'invalidFilter'
    | 'invalidPath'
    | 'invalidSyntax'
    | 'invalidValue'
    | 'tooMany'
    | 'uniqueness'
    | null

  constructor(status: number, detail: string, scimType: ScimError['scimType'] = null) {
    super(detail)
    this.status = status
    this.scimType = scimType
  }
}

export const invalidValue = (detail: string) => new ScimError(400, detail, 'invalidValue')
export const resourceNotFound = () => new ScimError(404, 'The resource does not exist')
