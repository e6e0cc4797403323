#!/usr/bin/env python3
# service_page.py: solves a puzzle through the page of puzzle_service in a headless Chromium.
# SPDX-License-Identifier: MIT
"""service_page.py PUZZLE_SERVICE SCREENSHOT_FOLDER

Leaves page.png (solved) and page-phone.png (an error, as wide as a phone). Exits with 77 (skipped) if
Chromium or Selenium is missing, with 1 if TANDEM_TEST_REQUIRE_ALL=1 asks for them.
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from service_process import PATIENCE, Service  # noqa: E402


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(1 if os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1" else 77)


try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service as Driver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError as missing:
    skip(f"{missing} (Debian: python3-selenium)")

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--force-device-scale-factor=2"]


def open_browser(profile):
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not chromium:
        skip("no chromedriver or chromium (Debian: chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    return webdriver.Chrome(service=Driver(driver), options=options)


def state(browser):
    return browser.execute_script("return document.body.dataset.state")


def order(browser):
    return browser.execute_script("return board.join(' ')")


def text(browser, name):
    return browser.find_element(By.ID, name).text


def solve(browser, start):
    browser.execute_script("board = arguments[0]; draw();", start)
    browser.find_element(By.ID, "solve").click()
    WebDriverWait(browser, PATIENCE).until(lambda _: state(browser) == "done")


def main():
    program, folder = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as profile:
        browser = open_browser(profile)
        try:
            with Service(program) as service:
                browser.set_window_size(900, 900)
                browser.get(f"http://127.0.0.1:{service.port}/")
                shuffled = order(browser)
                assert sorted(shuffled.split()) == list("012345678"), shuffled
                # Every shuffled board has a solution, and any two shuffles differ, most likely.
                seen = {shuffled}
                for _ in range(5):
                    browser.find_element(By.ID, "shuffle").click()
                    seen.add(order(browser))
                assert len(seen) > 1, seen
                browser.find_element(By.ID, "solve").click()
                WebDriverWait(browser, PATIENCE).until(lambda _: state(browser) == "done")
                assert order(browser) == "1 2 3 4 5 6 7 8 0", order(browser)
                assert "Solved in" in text(browser, "status"), text(browser, "status")

                solve(browser, [8, 6, 7, 2, 5, 4, 3, 0, 1])
                assert order(browser) == "1 2 3 4 5 6 7 8 0", order(browser)
                assert "Solved in 31 moves" in text(browser, "status"), text(browser, "status")
                assert text(browser, "error") == ""
                browser.save_screenshot(os.path.join(folder, "page.png"))
                loaded = browser.execute_script(
                    "return performance.getEntriesByType('resource').map(each => each.name)")
                assert all(name.startswith(f"http://127.0.0.1:{service.port}/") for name in loaded), loaded

                solve(browser, [1, 2, 3, 4, 5, 6, 8, 7, 0])
                assert "No solution" in text(browser, "status"), text(browser, "status")

                browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True})
                wide = browser.execute_script("return document.documentElement.scrollWidth")
                assert wide <= 360, f"the page is {wide} wide on a phone of 360"
                browser.execute_script("document.getElementById('solver').firstElementChild.value = 'magic'")
                solve(browser, [8, 6, 7, 2, 5, 4, 3, 0, 1])
                assert "refused (422)" in text(browser, "error"), text(browser, "error")
                browser.save_screenshot(os.path.join(folder, "page-phone.png"))
            solve(browser, [1, 2, 3, 4, 5, 6, 7, 0, 8])  # nobody there any more
            assert "does not answer" in text(browser, "error"), text(browser, "error")
        finally:
            browser.quit()
    print("the page solves puzzles, and says what went wrong")


if __name__ == "__main__":
    main()
