import { UnstyledButton } from '@mantine/core'
import { IconBell, IconCommand, IconSearch } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { hasRole, useSession } from '../session/session.ts'
import { t, withTexts } from '../text/index.ts'
import { Avatar } from '../ui/Avatar.tsx'
import { type Dropdown, DropdownContent, dropdownButtonProps, useDropdown } from '../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../ui/overlay/lazy.ts'
import { Tip } from '../ui/overlay/Tip.tsx'
import { type Badge, useRailBadge, useRailCount } from '../ui/rail-badges.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { type NavItem, navItems } from './nav-items.ts'
import styles from './Rail.module.css'

const BellPanel = prefetchedComponent(() => withTexts(() => import('../notifications/BellPanel.tsx')))
const UserMenuItems = prefetchedComponent(() => import('./UserMenuItems.tsx'))

interface RailProps {
  bell: Dropdown
  openPalette(): void
  openKeys(): void
}

/** Navigation: on the left; on phones at the bottom, with the setup pages in the user menu. */
export function Rail({ bell, openPalette, openKeys }: RailProps) {
  const workspaceId = useWorkspaceId()
  const isPhone = useIsPhone()
  const PaletteIcon = isPhone ? IconSearch : IconCommand
  const open = navItems.filter(({ role }) => hasRole(workspaceId, role))
  const setup = open.filter(({ place }) => place === 'setup')
  const links = (of: readonly NavItem[]) => of.map((item) => <RailLink key={item.path} item={item} />)
  return (
    <nav className={styles.rail} aria-label={t.common.mainNavigation}>
      <div className={styles.group}>{links(open.filter(({ place }) => place === 'day'))}</div>
      <div className={styles.group} data-last>
        <Tip label={`${t.common.palette.label} (Ctrl K)`} position="right">
          <UnstyledButton className={styles.link} onClick={openPalette} aria-label={t.common.palette.label}>
            <PaletteIcon size={20} stroke={1.6} />
          </UnstyledButton>
        </Tip>
        <Bell dropdown={bell} />
        {!isPhone && links(setup)}
        <UserMenu setup={isPhone ? setup : noBadge} openKeys={openKeys} />
      </div>
    </nav>
  )
}

const noBadge: readonly NavItem[] = []

function RailLink({ item: { path, title, icon: Icon } }: { item: NavItem }) {
  const badge = useRailBadge(path)
  const label = title()
  return (
    <Tip label={label} position="right">
      <Link
        to={`/w/$workspaceId/${path}` as '/w/$workspaceId/home'}
        params={(before) => before as { workspaceId: string }}
        className={styles.link}
        activeProps={{ 'data-active': true } as object}
        activeOptions={{ exact: false, includeSearch: false }}
        aria-label={badge === null ? label : `${label}: ${badge.label}`}
      >
        <Icon size={20} stroke={1.6} />
        <span className={styles.name}>{label}</span>
        {badge !== null && <Dot badge={badge} />}
      </Link>
    </Tip>
  )
}

function Dot({ badge }: { badge: Badge }) {
  return (
    <span className={styles.dot} data-tone={badge.tone} aria-hidden="true">
      {formatCount(badge.count)}
    </span>
  )
}

const formatCount = (count: number): string => (count > 99 ? '99+' : String(count))

function Bell({ dropdown }: { dropdown: Dropdown }) {
  const badge = useRailBadge('notifications')
  const label = t.common.notifications
  return (
    <>
      <Tip label={label} position="right">
        <UnstyledButton
          {...dropdownButtonProps(dropdown, 'dialog')}
          className={styles.link}
          aria-label={badge === null ? label : `${label}: ${badge.label}`}
        >
          <IconBell size={20} stroke={1.6} />
          {badge !== null && <Dot badge={badge} />}
        </UnstyledButton>
      </Tip>
      <DropdownContent dropdown={dropdown}>
        <BellPanel dropdown={dropdown} />
      </DropdownContent>
    </>
  )
}

interface UserMenuProps {
  /** Pages without an entry of their own in the rail. */
  setup: readonly NavItem[]
  openKeys(): void
}

function UserMenu({ setup, openKeys }: UserMenuProps) {
  const { name = '' } = useSession().user ?? {}
  const problemCount = useRailCount(setup.map(({ path }) => path))
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  const me = `${t.common.me}: ${name}`
  const label = problemCount > 0 ? `${me}. ${t.common.needAttention({ n: problemCount })}` : me
  return (
    <>
      <UnstyledButton {...dropdownButtonProps(dropdown, 'menu')} className={styles.link} aria-label={label}>
        <Avatar name={name} size={28} />
        {problemCount > 0 && <Dot badge={{ count: problemCount, tone: 'bad', label: '' }} />}
      </UnstyledButton>
      <DropdownContent dropdown={dropdown}>
        <UserMenuItems dropdown={dropdown} setup={setup} openKeys={openKeys} />
      </DropdownContent>
    </>
  )
}
