import { ApiError } from '../../base/errors.ts'

type OAuthErrorCode =
  | ('invalid_request' | 'invalid_client' | 'invalid_grant' | 'invalid_scope' | 'invalid_target')
  | ('unsupported_grant_type' | 'unsupported_response_type' | 'access_denied' | 'temporarily_unavailable')
  | ('invalid_redirect_uri' | 'invalid_client_metadata')

/** An error that a client gets as `{ error, error_description }`, or in the redirect of its browser. */
export class OAuthError extends ApiError {
  readonly code: OAuthErrorCode

  constructor(code: OAuthErrorCode, message: string, statusCode = code === 'invalid_client' ? 401 : 400) {
    super(statusCode, message, { data: { error: code } })
    this.code = code
  }
}

// One text for every reason: it tells a thief nothing.
export const invalidGrant = (): OAuthError =>
  new OAuthError('invalid_grant', 'The code or refresh token is unknown, used, expired or was given to another client')
