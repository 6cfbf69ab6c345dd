import { useMediaQuery } from '@mantine/hooks'

/** Returns whether the page is as narrow as on a phone; known on the first render. */
export const useIsPhone = (): boolean =>
  useMediaQuery('(max-width: 640px)', false, { getInitialValueInEffect: false }) ?? false
