import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

const accent: MantineColorsTuple = [
  '#eef0ff',
  '#dfe2fd',
  '#c9cefb',
  '#a5adff',
  '#8690fa',
  '#6d78f2',
  '#5a64e4',
  '#4a54d8',
  '#3a43bd',
  '#2d3596',
]

// Our neutral scale where Mantine uses fixed steps in dark mode: fields, borders, floating elements.
const dark: MantineColorsTuple = [
  '#eaeef4',
  '#d3d9e3',
  '#98a3b6',
  '#748095',
  '#3b4556',
  '#2e3746',
  '#1c222d',
  '#161b24',
  '#12161e',
  '#0d1017',
]

// The header of a dialog is not a landmark of the page.
const inDialog = { header: { role: 'presentation' } }

// The list scrolls itself, so that arrow keys reach all of it; Mantine's scroll area would not.
const options = { maxHeight: 220, overflowY: 'auto' } as const

/** Mantine theme; the colors of both schemes are in theme.css. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 5 },
  colors: { indigo: accent, dark },
  autoContrast: true,
  fontFamily: 'Inter, "Inter stand-in", system-ui, sans-serif',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '15px', xl: '18px' },
  defaultRadius: '6px',
  focusRing: 'auto',
  respectReducedMotion: true,
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '18px' }, h2: { fontSize: '15px' }, h3: { fontSize: '14px' } },
  },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Textarea: { defaultProps: { size: 'sm' } },
    Select: {
      defaultProps: { size: 'sm', withScrollArea: false, comboboxProps: { transitionProps: { duration: 100 } } },
      styles: { options },
    },
    MultiSelect: { defaultProps: { size: 'sm', withScrollArea: false }, styles: { options } },
    Modal: {
      defaultProps: {
        attributes: inDialog,
        radius: '10px',
        transitionProps: { duration: 120 },
        overlayProps: { backgroundOpacity: 0.35 },
      },
    },
    Drawer: { defaultProps: { attributes: inDialog } },
    // Fixed, because an absolute one makes the page wider until it is placed, and a focus would scroll the page.
    Popover: { defaultProps: { floatingStrategy: 'fixed' } },
    // Mantine's placeholder for the first item can take the focus but has no meaning.
    Menu: {
      defaultProps: {
        withInitialFocusPlaceholder: false,
        floatingStrategy: 'fixed',
        radius: '8px',
        shadow: 'md',
        transitionProps: { duration: 100 },
      },
    },
    Tooltip: { defaultProps: { openDelay: 400, transitionProps: { duration: 80 }, fz: 12 } },
  },
})

/** Maps Mantine's colors to our scale, which adapts to light and dark by itself. */
export const variables: CSSVariablesResolver = () => {
  const ours = {
    '--mantine-color-body': 'var(--n1)',
    '--mantine-color-text': 'var(--n12)',
    '--mantine-color-dimmed': 'var(--n9)',
    '--mantine-color-placeholder': 'var(--n9)',
    '--mantine-color-error': 'var(--bad)',
    '--mantine-color-default': 'var(--n1)',
    '--mantine-color-default-hover': 'var(--n3)',
    '--mantine-color-default-color': 'var(--n12)',
    '--mantine-color-default-border': 'var(--n6)',
    '--mantine-color-anchor': 'var(--accent-text)',
    // Red menu items.
    '--mantine-color-red-6': 'var(--bad)',
    '--mantine-color-red-light': 'var(--bad-paper)',
    '--mantine-color-red-light-hover': 'color-mix(in srgb, var(--bad) 18%, transparent)',
    '--mantine-color-red-light-color': 'var(--bad)',
    '--mantine-primary-color-filled': 'var(--accent)',
    '--mantine-primary-color-filled-hover': 'var(--accent-strong)',
    '--mantine-primary-color-contrast': 'var(--on-accent)',
    '--mantine-color-disabled': 'var(--n4)',
    '--mantine-color-disabled-color': 'var(--n9)',
  }
  return { variables: {}, light: ours, dark: ours }
}
