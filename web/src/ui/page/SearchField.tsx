import { ActionIcon } from '@mantine/core'
import { IconSearch, IconX } from '@tabler/icons-react'
import type { ComponentProps } from 'react'
import styles from './SearchField.module.css'

interface SearchFieldProps extends Omit<ComponentProps<'input'>, 'type' | 'size'> {
  'aria-label': string
  /** Button at the end of the field; null for none. */
  end: { label: string; run(): void } | null
  /** As in the toolbar of a table. */
  isSmall?: boolean
}

export function SearchField({ end, isSmall = false, ...input }: SearchFieldProps) {
  return (
    <div className={styles.search} data-small={isSmall || undefined}>
      <IconSearch size={isSmall ? 14 : 16} stroke={1.6} aria-hidden="true" />
      <input type="search" {...input} />
      {end !== null && (
        <ActionIcon variant="subtle" color="gray" size={isSmall ? 20 : 'sm'} aria-label={end.label} onClick={end.run}>
          <IconX size={isSmall ? 14 : 16} />
        </ActionIcon>
      )}
    </div>
  )
}
