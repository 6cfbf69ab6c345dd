/** Action on an endpoint that is being filled in or confirmed. */
export type EndpointDialog = 'test' | 'edit' | 'replay' | 'rotate' | 'enable' | 'disable' | 'remove'
