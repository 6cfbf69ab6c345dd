/** What was asked to be done with an endpoint, and is about to be filled in or confirmed. */
export type EndpointDialog = 'test' | 'edit' | 'replay' | 'rotate' | 'enable' | 'disable' | 'remove'
