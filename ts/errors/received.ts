import { printable } from "./printable.js";

/** Describes a wrong argument for an error message: strings are quoted, of other values the type is named. */
export function received(value: unknown): string {
  return typeof value === "string" ? printable(JSON.stringify(value)) : kindOf(value);
}

export function checkText(owner: string, value: unknown): void {
  if (typeof value !== "string") throw new TypeError(`${owner} must be a string, received ${kindOf(value)}`);
}

export function checkObject(owner: string, value: unknown): void {
  if (typeof value !== "object" || value === null)
    throw new TypeError(`${owner} must be an object, received ${received(value)}`);
}

export function checkFunction(owner: string, value: unknown): void {
  if (typeof value !== "function") throw new TypeError(`${owner} must be a function, received ${received(value)}`);
}

export function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}
