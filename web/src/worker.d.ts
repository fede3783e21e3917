declare module "worker:maplibre" {
  /** The text of MapLibre's worker as a classic script. */
  const source: string;
  export default source;
}
