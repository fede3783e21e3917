/** The colours of the ground: light, dark, and as it is printed, where water's blue would pass for the first band in grey. */

export type Ink = "light" | "dark" | "print";

export interface Inks {
  page: string;
  land: string;
  water: string;
  coast: string;
  name: string;
  halo: string;
  box: string;
  ink: string;
  soft: string;
  rule: string;
  faint: string;
  badge: string;
  badgeInk: string;
  park: string;
  road: string;
  casing: string;
  border: string;
}

const LIGHT: Inks = {
  page: "#FFFFFF",
  land: "#F4F2ED",
  water: "#D5E1E7",
  coast: "#A9BBC5",
  name: "#3C444C",
  halo: "#FFFFFFD1",
  box: "#7C8790",
  ink: "#1D2329",
  soft: "#56606A",
  rule: "#E3E7EA",
  faint: "#C9D0D5",
  badge: "#EAF1EC",
  badgeInk: "#245C3E",
  park: "#E4ECDD",
  road: "#FFFFFF",
  casing: "#DAD6CD",
  border: "#6B7680",
};

const DARK: Inks = {
  page: "#14181C",
  land: "#22282E",
  water: "#171C21",
  coast: "#4A5661",
  name: "#C9D1D7",
  halo: "#14181CD1",
  box: "#76828C",
  ink: "#EEF1F3",
  soft: "#A8B2BA",
  rule: "#2C343B",
  faint: "#46505A",
  badge: "#1E2F27",
  badgeInk: "#9AD7B4",
  park: "#232F2A",
  road: "#3A434B",
  casing: "#1B2026",
  border: "#76828C",
};

export const INKS: Record<Ink, Inks> = {
  light: LIGHT,
  dark: DARK,
  print: { ...LIGHT, water: "#FFFFFF", coast: "#7F8C95" },
};

/** How sure: from barely to well known, as greens, which no heat has. */
export const SURE: Record<Ink, string[]> = {
  light: ["#DCE9DF", "#A5CBB4", "#5E9A7C", "#1F5B45"],
  dark: ["#2B3F36", "#3F6B58", "#66A789", "#B5E6CC"],
  print: ["#DCE9DF", "#A5CBB4", "#5E9A7C", "#1F5B45"],
};
